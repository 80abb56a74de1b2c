import { describe, expect, test } from 'vitest';
import type { Source } from '../../src/definitions/source.ts';
import { type PlanInput, planRetention } from '../../src/retention/plan.ts';

const DAY_MS = 86_400_000;
const TODAY = Date.UTC(2026, 10, 20);
const NOON = TODAY + DAY_MS / 2;
const SOURCE: Source = {
  id: '00000000-0000-4000-8000-000000000000',
  name: 'test.logs',
  table: 'test_logs',
  description: '',
  retentionDays: 10,
  projectPaths: [],
  columns: [],
  rollup: undefined,
  external: undefined,
  file: 'sources/test.logs.yaml',
};

/** A day of the source, so many days ago. */
const dayOf = (daysAgo: number, rows = 100, table = SOURCE.table) => ({
  table,
  day: new Date(TODAY - daysAgo * DAY_MS).toISOString().slice(0, 10),
  rows,
  bytes: rows,
});
const range = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, i) => dayOf(from - i));

/** `13, 12 age share`: the days ago that are due, why, and why they stay. */
function plan(input: Partial<PlanInput>): string[] {
  const found = planRetention({
    days: [],
    sources: [SOURCE],
    cluster: '',
    clock: { state: 'plausible', isOther: false, clockMs: NOON, plausibleMs: NOON },
    storeBytesMax: 0,
    storeBytesMaxBefore: 0,
    dropPercentMax: 25,
    freeDaysMax: 2,
    isConfirmed: () => false,
    ...input,
  });
  const ago = (day: string) => (TODAY - Date.parse(day)) / DAY_MS;
  return found.map(
    ({ days, reason, held }) => `${days.map(({ day }) => ago(day)).join(', ')} ${reason} ${held ?? 'drop'}`,
  );
}

describe('for their age', () => {
  test('many that are a large share stay, until these have been confirmed', () => {
    const days = range(15, 5);
    expect(plan({ days })).toEqual(['15, 14, 13, 12, 11 age share']);
    expect(plan({ days, dropPercentMax: 100 })).toEqual(['15, 14, 13, 12, 11 age drop']);
    const confirmed = new Set(days.slice(0, 4));
    expect(plan({ days, isConfirmed: (day) => confirmed.has(day) })).toEqual([
      '15, 14, 13, 12, 11 age share',
    ]);
    expect(plan({ days, isConfirmed: () => true })).toEqual(['15, 14, 13, 12, 11 age drop']);
  });

  test('nothing goes by a clock that is ahead, however little', () => {
    const clock = { state: 'ahead', isOther: false, clockMs: NOON, plausibleMs: NOON - 90 * DAY_MS } as const;
    expect(plan({ days: range(11, 0), clock, isConfirmed: () => true })).toEqual(['11 age clock']);
  });
});

describe('for the size of the store', () => {
  const days = range(9, 0); // of 100 bytes each

  test('under pressure as much goes as has to, at any share, as long as the bound stands', () => {
    expect(plan({ days, storeBytesMax: 300, storeBytesMaxBefore: 300 })).toEqual([
      '9, 8, 7, 6, 5, 4, 3 size drop',
    ]);
  });

  test('it goes on while the clock is ahead, and keeps the day that is today by the right time', () => {
    const clock = { state: 'ahead', isOther: false, clockMs: NOON + 90 * DAY_MS, plausibleMs: NOON } as const;
    const plans = plan({ days, clock, storeBytesMax: 1, storeBytesMaxBefore: 1 });
    expect(plans).toEqual(['9, 8, 7, 6, 5, 4, 3, 2, 1, 0 age clock', '9, 8, 7, 6, 5, 4, 3, 2, 1 size drop']);
  });
});
