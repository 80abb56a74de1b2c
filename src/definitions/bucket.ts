import { parseSql } from '../sql/parse.ts';
import type { Source } from './source.ts';

/** Width of a time bucket and the range that the answer covers, in seconds. */
export interface BucketSpan {
  readonly widthSeconds: number;
  readonly rangeSeconds: number;
}

/** How the rows of an answer belong to time buckets, so that a refresh recomputes only buckets that may have changed. */
export interface Bucket {
  /** The result column with the start of a row's bucket: microseconds since 1970, or an ISO 8601 text. */
  readonly column: string;
  /** The enum parameter that selects a span; `undefined` if there is only one, under the empty text. */
  readonly by: string | undefined;
  readonly spans: ReadonlyMap<string, BucketSpan>;
  /** Whether the range begins at the start of its first bucket, not within it. */
  readonly aligned: boolean;
  /** The longest delay of events that are stored without the service, such as by replication; `undefined` if unknown. */
  readonly latenessSeconds: number | undefined;
  /** The sources that the query may read. */
  readonly sources: readonly Source[];
}

/** Parameters that the service binds in a query with buckets: instants in the form of `@now`, and the width as a number of seconds. */
export const BUCKET_FROM = 'bucket_from';
export const BUCKET_UNTIL = 'bucket_until';
export const BUCKET_WIDTH = 'bucket_width';
export const BUCKET_PARAMETERS = [BUCKET_FROM, BUCKET_UNTIL, BUCKET_WIDTH] as const;

type Seconds = number | Readonly<Record<string, number>>;

/** `bucket` of a file that passed `checkEndpointShape`. */
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
  const names = [width, range].flatMap((seconds) => Object.keys(seconds)); // a number has no keys
  const spans = new Map<string, BucketSpan>();
  for (const name of by === undefined ? [''] : names)
    spans.set(name, { widthSeconds: pick(width, name), rangeSeconds: pick(range, name) });
  return { column, by, spans, aligned, latenessSeconds: lateness, sources: findSources(sql, sources) };
}

function pick(seconds: Seconds, name: string): number {
  return typeof seconds === 'number' ? seconds : (seconds[name] ?? Number.NaN); // checks/bucket.ts has found each name
}

/** Returns the sources whose tables the SQL names: a query cannot read others. A source too many only costs work. */
export function findSources(sql: string, sources: readonly Source[]): Source[] {
  const named = new Set<string>();
  for (const { kind, text } of parseSql(sql).words) {
    if (kind === 'word') named.add(text);
    if (kind === 'name') named.add(text.slice(1, -1));
    if (kind === 'name' && text.includes('\\')) return [...sources]; // an escape may spell any name
  }
  return sources.filter(({ table }) => named.has(table));
}
