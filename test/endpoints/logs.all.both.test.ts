import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatInstant } from '../../src/lib/instant.ts';
import { MICROS_PER_DAY, type WireEvent } from '../../trial/oracle/event.ts';
import { type LogsQuestion, matchingLogs, ROWS_MAX } from '../../trial/oracle/logs.ts';
import { runs, weighted } from '../support/property.ts';
import { ownService, storeEvents } from '../support/service.ts';
import { clock, DAYS_90, instantAround, MINE, projectValue, rename, renameProjects } from './generate.ts';
import { ask, type Row } from './support.ts';

const SOURCE = 'cloudflare.logs.prod';
const NAME = 'logs.all';
const TIERS = ['FREE', 'PRO', 'PAYG', 'ENTERPRISE'];
const JUNK_TIERS = [undefined, '', 'free', 'pro', ' PRO', 'PRO ', 'TEAM', "PAYG' OR '1'='1", 'null', '90'];

const service = await ownService();
let cases = 0;

/** A bound of the caller and how it is sent. */
interface Bound {
  readonly micros: number | undefined;
  readonly text: string | undefined;
}

/** Events of any source with a project in some places, each with an id of its own. */
function logs(now: number, size: fc.ArrayConstraints): fc.Arbitrary<WireEvent[]> {
  const places = fc.record({ project_ref: projectValue, project: projectValue }, { requiredKeys: [] });
  const event = fc.record(
    {
      id: fc.uuid(),
      timestamp: instantAround(now, [DAYS_90]),
      project: projectValue,
      event_message: fc.constantFrom('GET / 200', '', 'é😀', 'a "quote" \\ \n \u0000'),
      metadata: weighted([6, places], [1, fc.constant(null)]),
    },
    { requiredKeys: ['id', 'timestamp'] },
  );
  return fc.uniqueArray(event, { selector: ({ id }) => id, size: 'max', ...size });
}

/** A bound on the very instant of an event, beside it, or none. */
function bound(now: number): fc.Arbitrary<Bound> {
  const some = instantAround(now, [DAYS_90]).map((micros) => ({ micros, text: formatInstant(micros) }));
  const none = fc.constantFrom({ micros: undefined, text: undefined }, { micros: undefined, text: '' });
  return weighted([3, some], [2, none]);
}

function situation(size: fc.ArrayConstraints) {
  return clock.chain((now) =>
    fc.record({ now: fc.constant(now), events: logs(now, size), start: bound(now), end: bound(now) }),
  );
}

/** Every row is an event that matches, none comes twice, and their instants are the newest there are, in order. */
function expectNewest(rows: readonly Row[], matching: readonly WireEvent[]): void {
  const byId = new Map(matching.map((event) => [event.id, event]));
  const newest = matching.slice(0, ROWS_MAX).map((event) => event.timestamp);
  expect(rows.map((row) => row['timestamp'])).toEqual(newest);
  expect(new Set(rows.map((row) => row['id'])).size).toBe(rows.length);
  const expected = rows.map((row) => {
    const event = byId.get(String(row['id']));
    const { id, timestamp } = event ?? {};
    return {
      id,
      timestamp,
      event_message: event?.['event_message'] ?? '',
      metadata: event?.['metadata'] ?? null,
    };
  });
  expect(rows).toEqual(expected);
}

async function expectAsOracle(
  s: { now: number; events: readonly WireEvent[] },
  asked: { project?: string; tier?: string | undefined; start?: Bound; end?: Bound },
): Promise<void> {
  service.clock.now = s.now;
  const unique = cases++;
  const own = renameProjects(s.events, unique);
  const question: LogsQuestion = {
    project: rename(asked.project ?? MINE, unique),
    tier: asked.tier ?? '',
    start: asked.start?.micros,
    end: asked.end?.micros,
    now: s.now * 1000,
  };
  await storeEvents(service.core, SOURCE, own, s.now);
  const parameters = {
    project: question.project,
    project_tier: asked.tier,
    iso_timestamp_start: asked.start?.text,
    iso_timestamp_end: asked.end?.text,
  };
  const { rows, text } = await ask(service.url, NAME, parameters);
  expectNewest(rows, matchingLogs(own, SOURCE, question));
  expect((await ask(service.url, NAME, parameters)).text, 'the same question again').toBe(text);
}

describe('random events', () => {
  test.for([...TIERS.map((tier) => [tier, [tier]] as const), ['FREE', JUNK_TIERS] as const])(
    'of the plan %s are those of the oracle, asked for as one of %j',
    async ([, tiers]) => {
      const tier = fc.constantFrom(...tiers);
      const property = fc.asyncProperty(situation({ maxLength: 50 }), tier, (s, asked) =>
        expectAsOracle(s, { tier: asked }),
      );
      await fc.assert(property, runs(15));
    },
  );

  test('lie within the bounds of the caller', async () => {
    const property = fc.asyncProperty(situation({ maxLength: 50 }), ({ start, end, ...s }) =>
      expectAsOracle(s, { tier: 'PAYG', start, end }),
    );
    await fc.assert(property, runs(40));
  });

  test('are the newest hundred where there are more', async () => {
    const property = fc.asyncProperty(situation({ minLength: 150, maxLength: 300 }), ({ start, end, ...s }) =>
      expectAsOracle(s, { tier: 'ENTERPRISE', start, end }),
    );
    await fc.assert(property, runs(6));
  });

  test('are never those of a project whose name holds the one asked for, or is held by it', async () => {
    const names = ['acme-eu', 'my-acme', 'ACME', 'acme ', 'acm_acme', '%acme%', "x' OR 'acme'='acme"];
    const property = fc.asyncProperty(situation({ maxLength: 50 }), fc.constantFrom(...names), (s, project) =>
      expectAsOracle(s, { tier: 'PAYG', project }),
    );
    await fc.assert(property, runs(12));
  });
});

describe('the bounds of time', () => {
  const now = Date.parse('2024-02-29T12:34:56.789Z');
  const on = now * 1000 - 3_600_000_000;
  const three = [on - 1, on, on + 1].map((t) => ({ id: String(t), timestamp: t, project: MINE }));

  /** The ids that are answered of events on, just before and just after a bound. */
  async function idsFor(parameters: Record<string, string>, events: readonly WireEvent[] = three) {
    service.clock.now = now;
    const own = renameProjects(events, cases++);
    await storeEvents(service.core, SOURCE, own, now);
    const { rows } = await ask(service.url, NAME, { project: String(own[0]?.['project']), ...parameters });
    return rows.map((row) => Number(row['id']));
  }

  test('exclude the start and include the end', async () => {
    const bounds = { iso_timestamp_start: formatInstant(on - 1), iso_timestamp_end: formatInstant(on) };
    expect(await idsFor(bounds)).toEqual([on]);
  });

  test.for([
    ['FREE', 1],
    ['PRO', 7],
    ['PAYG', 90],
    ['ENTERPRISE', 90],
    ['free', 1],
  ] as const)('the plan %s reaches back %i days, strictly', async ([project_tier, days]) => {
    const edge = now * 1000 - days * MICROS_PER_DAY;
    const events = [edge - 1, edge, edge + 1].map((t) => ({ id: String(t), timestamp: t, project: MINE }));
    expect(await idsFor({ project_tier }, events)).toEqual([edge + 1]);
    // A start further back than the plan opens nothing.
    expect(await idsFor({ project_tier, iso_timestamp_start: '1999-01-01' }, events)).toEqual([edge + 1]);
  });

  test('bounds beyond what can be stored mean what they say', async () => {
    for (const early of ['0001-01-01', '0000-01-01T00:00:00Z', '1899-12-31', '1969-12-31T23:59:59.999999Z']) {
      expect(await idsFor({ iso_timestamp_start: early }), early).toHaveLength(3);
      expect(await idsFor({ iso_timestamp_end: early }), early).toEqual([]);
    }
    for (const late of ['2200-01-01', '2299-12-31T23:59:59Z', '9999-12-31T23:59:59.999999999Z']) {
      expect(await idsFor({ iso_timestamp_end: late }), late).toHaveLength(3);
      expect(await idsFor({ iso_timestamp_start: late }), late).toEqual([]);
    }
  });
});

describe('the newest hundred', () => {
  const now = Date.parse('2025-01-01T00:00:00.000Z');

  test('of more than a thousand, stored in any order and in several batches', async () => {
    service.clock.now = now;
    const all = Array.from({ length: 2400 }, (_, i) => {
      const timestamp = now * 1000 - ((i * 7919) % 2400) * 1_000_001;
      return { id: `e${i}`, timestamp, project: 'many' };
    });
    for (let from = 0; from < all.length; from += 600) {
      await storeEvents(service.core, SOURCE, all.slice(from, from + 600), now);
    }
    const { rows } = await ask(service.url, NAME, { project: 'many' });
    expect(rows).toHaveLength(ROWS_MAX);
    const question = { project: 'many', tier: '', start: undefined, end: undefined, now: now * 1000 };
    expectNewest(rows, matchingLogs(all, SOURCE, question));
  });

  test('of one instant come in the same order every time, even where ids are the same', async () => {
    service.clock.now = now;
    for (let batch = 0; batch < 4; batch++) {
      const event = { timestamp: now * 1000 - 5, project: 'ties' };
      const events = Array.from({ length: 300 }, (_, i) => {
        return { ...event, id: `same-${i % 2}`, event_message: `${batch}-${i}` };
      });
      await storeEvents(service.core, SOURCE, events, now);
    }
    const first = await ask(service.url, NAME, { project: 'ties' });
    expect(first.rows).toHaveLength(ROWS_MAX);
    // One after the other: thirty at once would wait for their turn, which has a time-out.
    const texts = new Set([first.text]);
    for (let i = 0; i < 10; i++) texts.add((await ask(service.url, NAME, { project: 'ties' })).text);
    expect(texts.size).toBe(1);
  });
});
