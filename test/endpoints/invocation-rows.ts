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
/** Rows are those of the oracle, in order; averages and percentiles within what the query promises. */
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

// Averages are made of sums in units of 2^-64 ms.
const UNIT_MS = 2 ** -64;

function expectAverage(given: unknown, times: readonly number[]): void {
  if (times.length === 0) {
    expect(given).toBeNull();
    return;
  }
  const average = times.reduce((sum, time) => sum + time, 0) / times.length;
  expect(Math.abs(Number(given) - average)).toBeLessThanOrEqual(1e-9 * average + UNIT_MS);
}

const EXACT_VALUES_MAX = 100;
// Of a value of which 7 bits are kept beside its highest.
const VALUE_ERROR_MAX = 2 ** -7;

/**
 * Of few values the percentile is one of them, the nearest by rank; of many it is one of those next to it by rank, cut down to
 * 8 bits, by way of single precision. No value of the tests is negative.
 */
function expectPercentile(given: unknown, times: readonly number[], level: number): void {
  if (times.length === 0) {
    expect(given).toBeNull();
    return;
  }
  expect(given).toBeTypeOf('number');
  const rank = Math.ceil(level * times.length - 1e-9);
  const atRank = (one: number) => times[Math.min(Math.max(one, 1), times.length) - 1] ?? Number.NaN;
  if (times.length <= EXACT_VALUES_MAX) {
    expect(given).toBe(atRank(rank));
    return;
  }
  expect(given).toBeGreaterThanOrEqual(atRank(rank - 1) * (1 - VALUE_ERROR_MAX));
  expect(given).toBeLessThanOrEqual(Math.max(atRank(rank + 1), Math.fround(atRank(rank + 1))));
}
