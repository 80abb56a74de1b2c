import { type Micros, parseInstant } from '../lib/instant.ts';
import { type Buckets, bucketStart, type TimeRange } from '../query/bucket-range.ts';
import { type Answer, joinRows, rowAt } from '../query/run.ts';

/** The text of a row, and the start of its bucket. */
export interface BucketRow {
  readonly bucket: Micros;
  readonly row: Buffer;
}

/** Where the rows of an answer must lie, and how they tell it. */
export interface RowRules {
  /** The column that tells the bucket. */
  readonly column: string;
  readonly buckets: Buckets;
  /** An answer with so many rows may have been cut. */
  readonly rowsMax: number;
}

/** The rows of an answer; `undefined` where they are not all there, in the order of buckets, each at the start of one. */
export function readRows(
  answer: Answer,
  { column, buckets, rowsMax }: RowRules,
): readonly BucketRow[] | undefined {
  if (answer.rows >= rowsMax) return undefined;
  const rows: BucketRow[] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < answer.rows; i++) {
    const row = rowAt(answer, i);
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

/** One document of rows from several answers, in the order of buckets; those of one bucket stay in their order. */
export function mergeRows(rows: readonly BucketRow[]): ReturnType<typeof joinRows> {
  return joinRows(rows.toSorted((a, b) => a.bucket - b.bucket).map(({ row }) => row));
}

function readBucket(value: unknown): Micros | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined;
  return typeof value === 'string' ? parseInstant(value) : undefined;
}
