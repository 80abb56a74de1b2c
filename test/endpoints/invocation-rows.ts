import { expect } from 'vitest';
import type { InvocationBucket } from '../../trial/oracle/invocation-stats.ts';
import type { Row } from './support.ts';

const TIMES = ['min', 'max', 'avg', 'p95', 'p99'].map((what) => `${what}_execution_time`);
const COLUMNS = ['timestamp', ...TIMES, 'count', 'error_count'];

/** Rows are those of the oracle, in order; averages within the precision of their sums. */
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
    expectPercentile(row['p95_execution_time'], times, 95);
    expectPercentile(row['p99_execution_time'], times, 99);
    if (times.length > 0)
      expect(row['p99_execution_time']).toBeGreaterThanOrEqual(Number(row['p95_execution_time']));
  }
}

// Times are added up in units of 10^-20 ms; longer times count as the longest.
const UNIT_MS = 1e-20;
const LONGEST_MS = 1e38;

function expectAverage(given: unknown, times: readonly number[]): void {
  if (times.length === 0) {
    expect(given).toBeNull();
    return;
  }
  const counted = times.map(toCounted);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const [least = 0, most = 0] = [times[0], times.at(-1)];
  const average = Math.min(Math.max(sum(counted) / counted.length, least), most);
  expect(given).toBeGreaterThanOrEqual(least);
  expect(given).toBeLessThanOrEqual(most);
  expect(given).toBeTypeOf('number');
  // What a sum in the oracle's own order may be off by grows with the values, not with their sum.
  const error = (1e-12 * sum(counted.map(Math.abs))) / counted.length;
  expect(Math.abs(Number(given) - average)).toBeLessThanOrEqual(error + UNIT_MS);
}

function toCounted(time: number): number {
  return Math.min(Math.max(time, -LONGEST_MS), LONGEST_MS);
}

/** The nearest rank: the smallest time to which at least this share of all times is not greater. */
function expectPercentile(given: unknown, times: readonly number[], percent: number): void {
  const rank = Math.ceil((percent * times.length) / 100); // whole numbers: 0.95 * 20 would be a hair off
  const time = times[rank - 1];
  const [shortest, longest] = [times[0], times.at(-1)];
  if (time === undefined || shortest === undefined || longest === undefined) {
    expect(given).toBeNull();
    return;
  }
  expect(given).toBeGreaterThanOrEqual(shortest);
  expect(given).toBeLessThanOrEqual(longest);
  const size = Math.abs(time) < LEAST_MS ? 0 : Math.min(Math.abs(time), MOST_MS);
  const expected = Math.min(Math.max(Math.sign(time) * size, shortest), longest);
  expect(Math.abs(Number(given) - expected)).toBeLessThanOrEqual(Math.abs(expected) * PERCENTILE_ERROR);
}

// A time of a percentile counts as 0 below the first, and as the second above it.
const LEAST_MS = 2 ** -20;
const MOST_MS = 2 ** 43;
const PERCENTILE_ERROR = 0.001;
