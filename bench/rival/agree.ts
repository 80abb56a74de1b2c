import type { AnswerRow } from './rival.ts';

// An approximate percentile is off by ranks, not by a share of its value. Of 1,000 values with a long tail ten lie above the p99;
// in one such bucket an exact p99 and an approximate one were 11 % apart. Of 10,000 a hundred do.
const PERCENTILE_ROWS_MIN = 10_000;
const PERCENTILE_BOUND = 0.1;
const MEAN_BOUND = 1e-9;

/**
 * The difference of a rival's answer to the same question; `undefined` if there is none. All columns of all rows are
 * compared except `metadata`, which JSONB reorders. Means may differ by rounding. Percentiles are approximate in
 * some engines: of ten thousand values or more they may differ by a tenth.
 */
export function findDifference(ours: readonly AnswerRow[], theirs: readonly AnswerRow[]): string | undefined {
  if (ours.length !== theirs.length) return `${ours.length} rows, the other has ${theirs.length}`;
  for (const [i, row] of ours.entries()) {
    for (const [column, value] of Object.entries(row)) {
      const other = theirs[i]?.[column];
      if (!isSame(column, value, other, row))
        return `row ${i + 1}, ${column}: ${JSON.stringify(value)}, the other has ${JSON.stringify(other)}`;
    }
  }
  return undefined;
}

function isSame(column: string, value: unknown, other: unknown, row: AnswerRow): boolean {
  if (column === 'metadata') return true;
  const bound = boundOf(column, row);
  if (bound === 0 || typeof value !== 'number' || typeof other !== 'number') return value === other;
  return Math.abs(value - other) <= bound * Math.abs(value);
}

function boundOf(column: string, row: AnswerRow): number {
  if (column.startsWith('avg_')) return MEAN_BOUND;
  if (!/^p\d\d_/.test(column)) return 0;
  return Number(row['count']) < PERCENTILE_ROWS_MIN ? Number.POSITIVE_INFINITY : PERCENTILE_BOUND;
}
