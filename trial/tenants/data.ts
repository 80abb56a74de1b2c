import { createRandom } from '../../src/lib/random.ts';
import { MICROS_PER_SECOND, type WireEvent } from '../oracle/event.ts';

/** Names that contain each other, differ in letter case, or have a meaning as a pattern or in SQL. */
export const TENANTS = [
  'abc',
  'abcd',
  'xabcx',
  'ab',
  'ABC',
  'a.c',
  'a_c',
  'a%c',
  'abc+',
  '(abc)',
  'abc|xyz',
  'xyz',
  '.*',
  '^abc$',
  "a'c",
  'a\\c',
  'é',
  'abc-eu',
  'my-abc',
  'a c',
] as const;

export interface TenantEvents {
  readonly edge: readonly WireEvent[];
  readonly invocations: readonly WireEvent[];
}

const PATHS = [
  '/rest/v1/todos',
  '/storage/v1/object',
  '/auth/v1/token',
  '/realtime/v1',
  '/rest/storage',
  '/',
];
// Longer than the windows of FREE (1 day) and PRO (7 days).
const SPAN_SECONDS = 8 * 86_400;
const EVENTS_MIN = 20;
const EVENTS_MAX = 60;
/** Microseconds within a second: events of both sources are at distinct instants. */
const INVOCATIONS_FROM = 500_000;

/** Events of every tenant at distinct seconds; some URLs name another tenant and some requests have none. */
export function makeEvents(seed: number, nowMs: number): TenantEvents {
  const random = createRandom(`tenant events ${seed}`);
  const edge: WireEvent[] = [];
  const invocations: WireEvent[] = [];
  for (const [i, project] of TENANTS.entries()) {
    for (let n = random.whole(EVENTS_MIN, EVENTS_MAX); n > 0; n--) {
      const path = random.pick(PATHS);
      const named = random.chance(0.2) ? random.pick(TENANTS) : project;
      const request = random.chance(0.2) ? { path } : { path, url: `https://${named}.example.com${path}` };
      edge.push({ ...event(edge.length), project, metadata: { request } });
    }
    for (let n = random.whole(EVENTS_MIN, EVENTS_MAX); n > 0; n--) {
      const status_code = random.pick([200, 200, 404, 500]);
      const metadata = {
        project_ref: project,
        function_id: `f${random.whole(1, 3)}`,
        execution_time_ms: 1 + i + random.whole(0, 50) * TENANTS.length, // identifies the tenant
        response: { status_code },
      };
      invocations.push({ ...event(INVOCATIONS_FROM + invocations.length), metadata });
    }
  }
  return { edge, invocations };

  /** Half of them are within the last hour, which the short intervals cover. */
  function event(number: number) {
    const seconds = random.chance(0.5) ? 3_600 : SPAN_SECONDS;
    const timestamp = nowMs * 1000 - random.whole(1, seconds) * MICROS_PER_SECOND + number; // all distinct
    return { id: `${number}`, timestamp };
  }
}
