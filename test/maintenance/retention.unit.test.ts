import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Source } from '../../src/definitions/source.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { createRetention, planRetention } from '../../src/maintenance/retention.ts';
import { textOf } from '../../src/sql/sql.ts';
import { runs } from '../support/property.ts';
import { createSource } from '../support/source.ts';

const DAY_MS = 86_400_000;
const TODAY = Date.UTC(2026, 10, 20);
const NOON = TODAY + DAY_MS / 2;
const SOURCE = createSource({ retentionDays: 10 });

/** A day of the source, so many days ago; a negative number is in the future. */
const dayOf = (daysAgo: number, table = SOURCE.table) => ({
  table,
  day: new Date(TODAY - daysAgo * DAY_MS).toISOString().slice(0, 10),
  rows: 100,
  bytes: 100,
});
const range = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, i) => dayOf(from - i));
const ago = (day: string) => (TODAY - Date.parse(day)) / DAY_MS;

interface World {
  /** Days that the clock is ahead. */
  readonly ahead?: number;
  readonly storeBytesMax?: number;
  readonly sources?: readonly Source[];
}

function plan(days: ReturnType<typeof range>, world: World = {}) {
  const { ahead = 0, storeBytesMax = 0, sources = [SOURCE] } = world;
  const nowMs = NOON + ahead * DAY_MS;
  const { due, ...rest } = planRetention({ days, sources, cluster: '', nowMs, storeBytesMax });
  return { due: due.map(({ day, reason }) => `${ago(day)} ${reason}`), ...rest };
}

describe('by age', () => {
  const due = ['13 age', '12 age', '11 age'];

  test('a day goes when all of it is older than its source keeps', () => {
    expect(plan(range(13, 0))).toEqual({ due, stopped: undefined, certainMs: NOON });
    expect(plan([...range(13, 0), dayOf(40, 'stranger')]).due).toEqual(due);
  });

  test('a weekend without events changes nothing', () => {
    for (const days of [[...range(13, 3), dayOf(0)], range(13, 3)])
      expect(plan(days)).toMatchObject({ due, stopped: undefined });
  });
});

describe('a clock that is a hundred days ahead', () => {
  const stopped = expect.stringMatching(
    /^retention has stopped: the clock says 2027-02-28T12.* no events are stored of the days after 2026-11-20/,
  );
  const certainMs = TODAY + DAY_MS;

  test('deletes nothing that is not due without it', () => {
    expect(plan(range(9, 0), { ahead: 100 })).toEqual({ due: [], stopped, certainMs });
    expect(plan(range(11, 0), { ahead: 100 })).toEqual({ due: ['11 age'], stopped, certainMs });
  });

  test('nor do the events that get their time from it, however often it jumps', () => {
    const wrong = [dayOf(-90), dayOf(-91), dayOf(-100)];
    expect(plan([...range(9, 0), ...wrong], { ahead: 100 })).toMatchObject({ due: [], stopped });
    expect(plan([...range(9, 0), ...wrong])).toEqual({ due: [], stopped: undefined, certainMs: NOON });
    const again = expect.stringMatching(/after 2026-11-20/);
    expect(plan([...range(9, 0), ...wrong], { ahead: 200 })).toMatchObject({ due: [], stopped: again });
  });

  test('nor if it stays so for weeks, or days in a new store, whoever gives events their time', () => {
    const property = fc.property(
      fc.record({
        retentionDays: fc.integer({ min: 1, max: 60 }),
        ahead: fc.integer({ min: 8, max: 200 }),
        from: fc.integer({ min: 0, max: 80 }),
        share: fc.double({ min: 0, max: 0.49, noNaN: true }), // of the days that it is ahead
        ownTime: fc.constantFrom('all', 'some', 'none'),
      }),
      ({ retentionDays, ahead, from, share, ownTime }) => {
        const isNew = from < retentionDays;
        const until = from + Math.min(share * ahead, isNew ? 6 : 100);
        const stored = new Map<number, number>(); // day → day by the right clock on which it got its last event
        for (let time = 0; time < 120; time++) {
          const isWrong = time >= from && time < until;
          const now = isWrong ? time + ahead : time;
          if (ownTime !== 'none') stored.set(time, time);
          if (ownTime !== 'all') stored.set(now, time);
          const days = [...stored.keys()].toSorted((a, b) => a - b).map((one) => dayOf(-one));
          const { due } = plan(days, { ahead: now, sources: [{ ...SOURCE, retentionDays }] });
          const found = due.map((text) => -Number.parseInt(text, 10));
          for (const day of found) {
            expect((stored.get(day) ?? 0) + 1 + retentionDays).toBeLessThanOrEqual(time);
            stored.delete(day);
          }
        }
      },
    );
    fc.assert(property, runs(100));
  });
});

test('after a time in which the service did not run, deletion goes on once it has run for as long', () => {
  const before = range(160, 50);
  const due = before.map(({ day }) => `${ago(day)} age`);
  const stopped = expect.stringMatching(/after 2026-10-01/);
  // What came since does not wait for that.
  const { due: meanwhile, ...rest } = plan([...before, ...range(24, 0)]);
  expect(rest).toMatchObject({ stopped });
  expect(meanwhile).toEqual(expect.arrayContaining(['160 age', '61 age', '24 age', '11 age']));
  expect(meanwhile).not.toContain('60 age');
  expect(plan([...before, ...range(25, 0)])).toMatchObject({ stopped: undefined });
  expect(plan([...before, ...range(25, 0)]).due.slice(0, due.length)).toEqual(due);
});

test('an old event that somebody loads stops it for a week', () => {
  expect(plan([dayOf(60), ...range(6, 0)])).toMatchObject({ due: [], stopped: expect.any(String) });
  expect(plan([dayOf(60), ...range(7, 0)])).toMatchObject({ due: ['60 age'], stopped: undefined });
});

describe('by size', () => {
  const days = range(9, 0); // of 100 bytes each

  test('the oldest days of all go until the store fits', () => {
    const sources = [SOURCE, { ...SOURCE, table: 'other' }];
    const both = [...range(3, 2), dayOf(1, 'other'), dayOf(0)];
    expect(plan(both, { sources, storeBytesMax: 250 }).due).toEqual(['3 size', '2 size']);
    expect(plan([dayOf(9, 'stranger'), ...both], { sources, storeBytesMax: 400 }).due).toEqual([]);
  });

  test('the newest day stays, whatever the clock says', () => {
    const all = days.slice(0, -1).map(({ day }) => `${ago(day)} size`);
    for (const ahead of [0, 100]) expect(plan(days, { ahead, storeBytesMax: 1 }).due).toEqual(all);
    expect(plan(days, { ahead: -100, storeBytesMax: 1 }).due).toEqual([]);
  });
});

test('room is made before days are deleted, and the certain time does not follow a jump between two runs', async () => {
  const done: string[] = [];
  const clock = { ms: NOON, ticks: 0 };
  const engine = {
    cluster: '',
    inspect: async () => range(11, 0),
    command: async (sql) => void done.push(textOf(sql)),
  } as Pick<Engine, 'cluster' | 'inspect' | 'command'> as Engine;
  const { run, certainMs } = createRetention({
    ...{ engine, sources: () => [SOURCE], now: () => clock.ms, ticks: () => clock.ticks },
    storeBytesMax: 0,
    makeRoom: async () => void done.push('room'),
    onDropped: ({ day, reason }) => void done.push(`${ago(day)} ${reason}`),
    onStopped() {},
  });
  expect(certainMs()).toBe(0);
  await run();
  expect(done).toEqual(['room', "ALTER TABLE `test_logs` DROP PARTITION '2026-11-09'", '11 age']);
  clock.ticks += 1_000;
  clock.ms += 100 * DAY_MS;
  expect(certainMs()).toBe(NOON + 1_000);
  clock.ms = NOON + 500;
  expect(certainMs()).toBe(NOON + 500);
});
