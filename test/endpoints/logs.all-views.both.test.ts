import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { formatInstant } from '../../src/lib/instant.ts';
import { PROJECT_PLACE, type WireEvent } from '../../trial/oracle/event.ts';
import { matchingLogs, ROWS_MAX } from '../../trial/oracle/logs.ts';
import { SEED } from '../support/property.ts';
import { ownService, storeEvents } from '../support/service.ts';
import { DAYS_90, instantAround, MINE, projectValue } from './generate.ts';
import { compute } from './support.ts';

/** The views that the stored query defines, in its order, each with the source it shows (spec 4.2 rule 1). */
const VIEWS = [
  ['edge_view', 'cloudflare.logs.prod'],
  ['postgres_view', 'postgres.logs'],
  ['function_edge_view', 'deno-relay-logs'],
  ['function_runtime_view', 'deno-subhosting-events'],
  ['auth_view', 'gotrue.logs.prod'],
  ['realtime_view', 'realtime.logs.prod'],
  ['storage_view', 'storage.logs.prod.2'],
  ['postgrest_view', 'postgREST.logs.prod'],
  ['pgbouncer_view', 'pgbouncer.logs.prod'],
] as const;

const now = Date.parse('2024-02-29T12:34:56.789Z');
const service = await ownService({ now });

const endpoint = service.core.registry.getEndpoint('logs.all');

/** The stored query with another of its views in place of the one it returns. */
function returning(view: string): string {
  const parts = endpoint.sql.split(/\bFROM edge_view\b/);
  expect(parts, 'the query returns the edge view, once').toHaveLength(2);
  return parts.join(`FROM ${view}`);
}

const seed = SEED;
const stored = new Map<string, WireEvent[]>();

beforeAll(async () => {
  const places = fc.record({ project_ref: projectValue, project: projectValue }, { requiredKeys: [] });
  const event = fc.record(
    { timestamp: instantAround(now, [DAYS_90]), project: projectValue, metadata: places },
    { requiredKeys: ['timestamp'] },
  );
  for (const [i, [view, source]] of VIEWS.entries()) {
    const events = fc.sample(event, { numRuns: 400, seed: seed + i });
    const own = events.map((one, n) => ({ ...one, id: `${view}-${n}` }));
    stored.set(source, own);
    await storeEvents(service.core, source, own, now);
  }
});

test('the stored query defines these nine views', () => {
  const defined = [...endpoint.sql.matchAll(/^\s*(\w+) AS \($/gm)].map((match) => match[1]);
  expect(defined).toEqual(VIEWS.map(([view]) => view));
  expect(new Set(VIEWS.map(([, source]) => source))).toEqual(new Set(Object.keys(PROJECT_PLACE)));
});

describe.for(VIEWS)('%s, returned in place of the edge view', ([view, source]) => {
  const bounds = fc.option(instantAround(now, [DAYS_90]), { nil: undefined });
  const question = fc.record({
    project: fc.constantFrom(MINE, 'acme-eu', 'acm', 'other', 'nobody'),
    tier: fc.constantFrom('FREE', 'PRO', 'PAYG', 'ENTERPRISE', 'free'),
    start: bounds,
    end: bounds,
  });

  test(`gives the newest of ${source} with the same filters`, async () => {
    const events = stored.get(source) ?? [];
    const other = { ...endpoint, sql: returning(view) };
    for (const asked of [
      { project: MINE, tier: 'ENTERPRISE', start: undefined, end: undefined },
      ...fc.sample(question, { numRuns: 10, seed }),
    ]) {
      const about = `seed ${seed}: ${JSON.stringify(asked)}`;
      const [start, end] = [asked.start, asked.end].map((at) => (at === undefined ? '' : formatInstant(at)));
      const bounds = { iso_timestamp_start: start, iso_timestamp_end: end };
      const raw = { project: asked.project, project_tier: asked.tier, ...bounds };
      const rows = await compute(service, other, raw);
      const matching = matchingLogs(events, source, { ...asked, now: now * 1000 });
      const instants = matching.slice(0, ROWS_MAX).map((event) => event.timestamp);
      const timestamps = rows.map((row) => row['timestamp']);
      expect(timestamps, about).toEqual(instants);
      const ids = new Set(matching.map((event) => event.id));
      const others = rows.filter((row) => !ids.has(String(row['id'])));
      expect(others, about).toEqual([]);
      expect(new Set(rows.map((row) => row['id'])).size, about).toBe(rows.length);
    }
  });
});
