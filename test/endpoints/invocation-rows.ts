import { expect } from 'vitest';
import type { InvocationBucket } from '../../trial/oracle/invocation-stats.ts';
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
  }
}

// Times are added up in units of 2^-64 ms; longer times count as the longest.
const UNIT_MS = 2 ** -64;
const LONGEST_MS = 1e40;

function expectAverage(given: unknown, times: readonly number[]): void {
  if (times.length === 0) {
    expect(given).toBeNull();
    return;
  }
  const counted = times.map((time) => Math.min(Math.max(time, -LONGEST_MS), LONGEST_MS));
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const average = sum(counted) / counted.length;
  expect(given).toBeTypeOf('number');
  // What a sum in the oracle's own order may be off by grows with the values, not with their sum.
  const error = (1e-12 * sum(counted.map(Math.abs))) / counted.length;
  expect(Math.abs(Number(given) - average)).toBeLessThanOrEqual(error + UNIT_MS);
}

/** The nearest rank, exactly: the smallest time to which at least this share of all times is not greater. */
function expectPercentile(given: unknown, times: readonly number[], percent: number): void {
  const rank = Math.ceil((percent * times.length) / 100); // whole numbers: 0.95 * 20 would be a hair off
  expect(given).toBe(times[rank - 1] ?? null);
}
