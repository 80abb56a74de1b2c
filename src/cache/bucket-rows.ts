import { type Micros, parseInstant } from '../lib/instant.ts';
import { type Buckets, bucketStart, type TimeRange } from '../query/bucket-range.ts';
import { type Format, type Framed, joinRows, rowAt } from '../query/format.ts';
import type { Answer } from '../query/run.ts';

/** The text of a row and the start of its time bucket. */
export interface BucketRow {
  readonly bucket: Micros;
  readonly row: Buffer;
}

/** Where the rows of an answer have to lie. */
export interface RowRules {
  /** The column with the start of the row's time bucket. */
  readonly column: string;
  readonly buckets: Buckets;
  /** An answer with so many rows may have been cut. */
  readonly rowsMax: number;
}

/** The rows of an answer; `undefined` unless all are there, in the order of time buckets, each at the start of one. */
export function readRows(
  answer: Answer,
  { column, buckets, rowsMax }: RowRules,
): readonly BucketRow[] | undefined {
  if (answer.rows >= rowsMax) return undefined;
  const rows: BucketRow[] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < answer.rows; i++) {
    const row = rowAt(answer.format, answer, i);
    const bucket = readBucket((JSON.parse(row.toString()) as Record<string, unknown>)[column]);
    const isInOrder = bucket !== undefined && bucket >= last && bucketStart(bucket, buckets.width) === bucket;
    if (!isInOrder) return undefined;
    rows.push({ bucket, row });
    last = bucket;
  }
  return rows;
}

export function isWithin({ bucket }: BucketRow, { from, until }: TimeRange): boolean {
  return bucket >= from && bucket < until;
}

/** One body of rows from several answers, in the order of time buckets; those of one bucket stay in their order. */
export function mergeRows(format: Format, rows: readonly BucketRow[]): Framed {
  const sorted = rows.toSorted((a, b) => a.bucket - b.bucket);
  return joinRows(
    format,
    sorted.map(({ row }) => row),
  );
}

function readBucket(value: unknown): Micros | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined;
  return typeof value === 'string' ? parseInstant(value) : undefined;
}
