import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../support/property.ts';
import { ownService, storeEvents } from '../support/service.ts';
import { clock, instantAround } from './generate.ts';
import { compute } from './support.ts';

const DAY = 86_400_000_000;

const service = await ownService();
const endpoint = service.core.registry.getEndpoint('usage.by-project');

/** What the service writes down each minute. `timestamp` in microseconds. */
interface Counted {
  readonly timestamp: number;
  readonly project: string;
  readonly metadata: {
    readonly key: string;
    readonly source: string;
    readonly events: number;
    readonly bytes: number;
    /** Usage of versions before queries were counted has none. */
    readonly queries?: number;
    readonly core_ms?: number;
  };
}

const NAMES = ['', 'aurora', 'borealis', 'Ünï', "o'clock", '@project'];
const counted = (now: number): fc.Arbitrary<Counted> =>
  fc.record({
    timestamp: instantAround(now),
    project: fc.constantFrom(...NAMES),
    metadata: fc.record(
      {
        key: fc.constantFrom('', 'k1', 'k2', 'person:a'),
        source: fc.constantFrom('', 'logs'),
        events: fc.integer({ min: -3, max: 2 ** 40 }),
        bytes: fc.integer({ min: 0, max: 2 ** 40 }),
        queries: fc.nat({ max: 1_000 }),
        core_ms: fc.nat({ max: 1_000_000 }),
      },
      { requiredKeys: ['key', 'source', 'events', 'bytes'] },
    ),
  });

interface Asked {
  readonly project: string;
  readonly days: number;
  readonly by: 'project' | 'key';
}

/** The endpoint, computed in JavaScript. @param now microseconds since the epoch */
function usageByProject(all: readonly Counted[], { project, days, by }: Asked, now: number) {
  const from = (Math.floor(now / DAY) - days + 1) * DAY;
  const shown = all.filter((one) => one.timestamp >= from && (project === '' || one.project === project));
  const groups = Map.groupBy(shown, (one) =>
    JSON.stringify([Math.floor(one.timestamp / DAY), one.project, by === 'key' ? one.metadata.key : '']),
  );
  const rows = [...groups].map(([name, ofGroup]) => {
    const [day, ownProject, key] = JSON.parse(name) as [number, string, string];
    const sum = (member: 'events' | 'bytes' | 'queries' | 'core_ms') =>
      ofGroup.reduce((total, { metadata }) => total + (metadata[member] ?? 0), 0);
    return {
      ...{ day: new Date(day * 86_400_000).toISOString().slice(0, 10), project: ownProject, key },
      ...{ events: sum('events'), bytes: sum('bytes'), queries: sum('queries') },
      core_seconds: sum('core_ms') / 1000,
    };
  });
  const bytesOf = (text: string) => Buffer.from(text);
  return rows.toSorted(
    (a, b) =>
      b.day.localeCompare(a.day) ||
      b.events - a.events ||
      b.core_seconds - a.core_seconds ||
      Buffer.compare(bytesOf(a.project), bytesOf(b.project)) ||
      Buffer.compare(bytesOf(a.key), bytesOf(b.key)),
  );
}

const stored: Counted[] = [];

test('random usage is added up by day, project and key as the oracle does', async () => {
  const situation = clock.chain((now) =>
    fc.record({
      now: fc.constant(now),
      events: fc.array(counted(now), { maxLength: 30, size: 'max' }),
      asked: fc.record({
        project: fc.constantFrom(...NAMES, 'nobody'),
        days: fc.constantFrom(1, 2, 7, 30, 400),
        by: fc.constantFrom('project', 'key'),
      }),
    }),
  );
  const property = fc.asyncProperty(situation, async ({ now, events, asked }) => {
    service.clock.now = now;
    await storeEvents(service.core, 'tailrace.usage', events, now);
    stored.push(...events);
    const rows = await compute(service, endpoint, { ...asked, days: String(asked.days) });
    expect(rows).toEqual(usageByProject(stored, asked, now * 1000));
  });
  await fc.assert(property, runs(60));
});
