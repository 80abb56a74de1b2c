import { scanTokens } from '../sql/token.ts';
import type { Source } from './source.ts';

/** Width of a bucket and range covered, seconds. */
export interface BucketSpan {
  readonly widthSeconds: number;
  readonly rangeSeconds: number;
}

/** How the rows of an answer stand for buckets of time, so that a refresh can leave out those that cannot have changed. */
export interface Bucket {
  /** The result column that tells the start of a row's bucket: microseconds since 1970, or an ISO 8601 text. */
  readonly column: string;
  /** The enum parameter by whose values `spans` go; `undefined` where there is one span, under the empty text. */
  readonly by: string | undefined;
  readonly spans: ReadonlyMap<string, BucketSpan>;
  /** Whether the range begins where its first bucket does, and not somewhere in it. */
  readonly aligned: boolean;
  /** How old events may be when they come by a way that the service does not see; `undefined` where nobody knows. */
  readonly latenessSeconds: number | undefined;
  /** The sources that the query may read. */
  readonly sources: readonly Source[];
}

/** The names that the service binds in a query with buckets, all as texts: instants as `@now` has it, the width in seconds. */
export const BUCKET_FROM = 'bucket_from';
export const BUCKET_UNTIL = 'bucket_until';
export const BUCKET_WIDTH = 'bucket_width';
export const BUCKET_PARAMETERS = [BUCKET_FROM, BUCKET_UNTIL, BUCKET_WIDTH] as const;

type Seconds = number | Readonly<Record<string, number>>;

/** `bucket` of a file of good shape. */
export interface BucketFields {
  readonly column: string;
  readonly by?: string;
  readonly width: Seconds;
  readonly range: Seconds;
  readonly aligned?: boolean;
  readonly lateness?: number;
}

export function createBucket(fields: BucketFields, sql: string, sources: readonly Source[]): Bucket {
  const { column, by, width, range, aligned = false, lateness } = fields;
  const names = [width, range].flatMap((seconds) =>
    typeof seconds === 'number' ? [] : Object.keys(seconds),
  );
  const spans = (by === undefined ? [''] : [...new Set(names)]).map(
    (name) => [name, { widthSeconds: pick(width, name), rangeSeconds: pick(range, name) }] as const,
  );
  return {
    column,
    by,
    spans: new Map(spans),
    aligned,
    latenessSeconds: lateness,
    sources: findSources(sql, sources),
  };
}

function pick(seconds: Seconds, name: string): number {
  return typeof seconds === 'number' ? seconds : (seconds[name] ?? Number.NaN); // there: see checks/bucket.ts
}

/** Sources whose table's name stands in the SQL: a query can read no other, and one too many costs only work. */
function findSources(sql: string, sources: readonly Source[]): Source[] {
  const words = new Set<string>();
  for (const { kind, start, end } of scanTokens(sql)) {
    if (kind === 'word') words.add(sql.slice(start, end));
    const name = kind === 'name' ? sql.slice(start + 1, end - 1) : '';
    if (name.includes('\\')) return [...sources]; // an escape may spell any name
    words.add(name);
  }
  return sources.filter(({ table }) => words.has(table));
}
