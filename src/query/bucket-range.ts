import { BUCKET_FROM, BUCKET_UNTIL, BUCKET_WIDTH, type Bucket } from '../definitions/bucket.ts';
import type { Endpoint } from '../definitions/endpoint.ts';
import { NOW_PARAMETER } from '../definitions/parameter.ts';
import type { Source } from '../definitions/source.ts';
import {
  EARLIEST_MICROS,
  formatInstant,
  LATEST_MICROS,
  MICROS_PER_DAY,
  MICROS_PER_MS,
  MICROS_PER_SECOND,
  type Micros,
} from '../lib/instant.ts';
import type { Values } from '../sql/quote.ts';
import { findPageRange, pageValues } from './page-range.ts';
import type { ParameterValues } from './parameters.ts';

/** A range of event time: from `from`, before `until`. */
export interface TimeRange {
  readonly from: Micros;
  readonly until: Micros;
}

/** The time buckets of a question at one instant. */
export interface Buckets {
  readonly width: Micros;
  /** Events from here on are in the answer, without an upper bound. */
  readonly from: Micros;
  /** Start of the bucket that holds `from`. */
  readonly first: Micros;
}

/** @param instantMs the `@now` of the query, ms since the epoch */
export function findBuckets(bucket: Bucket, values: ParameterValues, instantMs: number): Buckets {
  const { by } = bucket;
  const span = bucket.spans.get(by === undefined ? '' : (values[by] ?? ''));
  if (span === undefined) throw new Error(`no bucket has a width for this value of ${by}`); // see checks/bucket.ts
  const width = span.widthSeconds * MICROS_PER_SECOND;
  const start = Math.max(instantMs * MICROS_PER_MS - span.rangeSeconds * MICROS_PER_SECOND, EARLIEST_MICROS);
  const first = bucketStart(start, width);
  return { width, from: bucket.aligned ? first : start, first };
}

/** Start of the time bucket that holds an instant: buckets are counted from 1970. */
export function bucketStart(instant: Micros, width: Micros): Micros {
  return Math.floor(instant / width) * width;
}

// Between the clock of the service and the engine's.
const CLOCKS_DIFFER_MAX: Micros = 3_600 * MICROS_PER_SECOND;

/**
 * Whether a query reads no event that retention hides: the range of its page begins later, or its time buckets do. With buckets only for
 * sources with rollups, which the engine reads only without the filter of retention. For pages the filter of each source takes half a
 * millisecond of analysis.
 *
 * @param engineNowMs the time by which events are hidden, ms since the epoch
 */
export function isWithinRetention(
  { bucket, pages }: Endpoint,
  values: ParameterValues,
  {
    instantMs,
    range,
    engineNowMs,
  }: { instantMs: number; range?: TimeRange | undefined; engineNowMs: number },
): boolean {
  const isVisible = (from: Micros, sources: readonly Source[]) =>
    sources.length > 0 && from >= findHidden({ sources }, engineNowMs) + CLOCKS_DIFFER_MAX;
  if (pages?.range !== undefined && pages.readsOnlyRange) {
    const { from } = findPageRange(pages, pages.range, values);
    return isVisible(Math.max(from, range?.from ?? from), pages.sources);
  }
  if (bucket?.sources.every(({ rollup }) => rollup !== undefined) !== true) return false;
  return isVisible(range?.from ?? findBuckets(bucket, values, instantMs).from, bucket.sources);
}

/**
 * Retention hides events up to here, or may: those of one of the sources are too old.
 *
 * @param engineNowMs the time by which events are hidden, ms since the epoch
 */
export function findHidden({ sources }: Pick<Bucket, 'sources'>, engineNowMs: number): Micros {
  const days = Math.min(...sources.map(({ retentionDays }) => retentionDays));
  return engineNowMs * MICROS_PER_MS - days * MICROS_PER_DAY;
}

/** The upper bound of a range without one; optional conditions with it are left out. */
export const UNBOUNDED = formatInstant(LATEST_MICROS);

/** The values that the service binds in an endpoint's SQL: the instant and, with time buckets or pages, `range`, or else the whole range. */
export function serviceValues(
  endpoint: Endpoint,
  values: ParameterValues,
  { instantMs, range }: { instantMs: number; range?: TimeRange | undefined },
): Values {
  const { bucket } = endpoint;
  const now = {
    [NOW_PARAMETER]: formatInstant(instantMs * MICROS_PER_MS),
    ...(endpoint.pages && pageValues(endpoint.pages, values, range?.from)),
  };
  if (bucket === undefined) return now;
  const { width, from } = findBuckets(bucket, values, instantMs);
  return {
    ...now,
    [BUCKET_FROM]: formatInstant(Math.max(range?.from ?? from, EARLIEST_MICROS)),
    [BUCKET_UNTIL]: formatInstant(Math.min(range?.until ?? LATEST_MICROS, LATEST_MICROS)),
    [BUCKET_WIDTH]: width / MICROS_PER_SECOND,
  };
}
