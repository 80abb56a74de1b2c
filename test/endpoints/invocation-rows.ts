import { expect } from 'vitest';
import type { InvocationBucket } from './oracle/invocation-stats.ts';
import type { Row } from './support.ts';

const COLUMNS = [
  'timestamp',
  'min_execution_time',
  'max_execution_time',
  'avg_execution_time',
  'p95_execution_time',
  'p99_execution_time',
  'count',
  'error_count',
];
/** Rows are those of the oracle, in order; percentiles within what a T-digest promises. */
export function expectStats(rows: readonly Row[], expected: readonly InvocationBucket[]): void {
  expect(rows.map((row) => Object.keys(row))).toEqual(rows.map(() => COLUMNS));
  const exact = ({ timestamp, count, error_count, min_execution_time, max_execution_time }: Row) => {
    return { timestamp, count, error_count, min_execution_time, max_execution_time };
  };
  expect(rows.map(exact)).toEqual(
    expected.map(({ timestamp, count, errorCount, times }) => ({
      timestamp,
      count,
      error_count: errorCount,
      min_execution_time: times[0] ?? null,
      max_execution_time: times.at(-1) ?? null,
    })),
  );
  for (const [i, { times }] of expected.entries()) {
    const row = rows[i] ?? {};
    expectAverage(row['avg_execution_time'], times);
    expectPercentile(row['p95_execution_time'], times, 0.95);
    expectPercentile(row['p99_execution_time'], times, 0.99);
  }
}

function expectAverage(given: unknown, times: readonly number[]): void {
  if (times.length === 0) {
    expect(given).toBeNull();
    return;
  }
  const average = times.reduce((sum, time) => sum + time, 0) / times.length;
  expect(Math.abs(Number(given) - average)).toBeLessThanOrEqual(1e-9 * average);
}

// A T-digest with the engine's accuracy of 1 in 100 puts no two values together below this many.
const EXACT_VALUES_MAX = 100;
const RANK_ERROR_MAX = 0.02;

/**
 * Of few values the percentile is one of them, the nearest by rank; of many it lies between those 2 ranks in 100 below and
 * above. The digest holds single-precision numbers, so all is compared in those.
 */
function expectPercentile(given: unknown, times: readonly number[], level: number): void {
  if (times.length === 0) {
    expect(given).toBeNull();
    return;
  }
  expect(given).toBeTypeOf('number');
  const value = Math.fround(Number(given));
  const few = times.length <= EXACT_VALUES_MAX;
  const atRank = (q: number) => {
    const rank = Math.ceil(Math.min(q, 1) * times.length - 1e-9);
    return Math.fround(times[Math.max(rank, 1) - 1] ?? Number.NaN);
  };
  expect(value).toBeGreaterThanOrEqual(atRank(few ? level : level - RANK_ERROR_MAX));
  expect(value).toBeLessThanOrEqual(atRank(few ? level : level + RANK_ERROR_MAX));
}
