import { BUCKET_FROM, BUCKET_UNTIL, BUCKET_WIDTH, type Bucket } from '../definitions/bucket.ts';
import type { Endpoint } from '../definitions/endpoint.ts';
import { NOW_PARAMETER } from '../definitions/parameter.ts';
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
import { pageValues } from './page-range.ts';
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
 * Whether a query reads no event that retention hides: its time buckets begin later. Only for endpoints over sources with rollups,
 * which the engine reads only without the filter of retention.
 *
 * @param engineNowMs the time by which events are hidden, ms since the epoch
 */
export function isWithinRetention(
  { bucket }: Endpoint,
  values: ParameterValues,
  {
    instantMs,
    range,
    engineNowMs,
  }: { instantMs: number; range?: TimeRange | undefined; engineNowMs: number },
): boolean {
  if (bucket === undefined || bucket.sources.length === 0) return false;
  if (bucket.sources.some(({ rollup }) => rollup === undefined)) return false;
  const from = range?.from ?? findBuckets(bucket, values, instantMs).from;
  const days = Math.min(...bucket.sources.map(({ retentionDays }) => retentionDays));
  return from >= engineNowMs * MICROS_PER_MS - days * MICROS_PER_DAY + CLOCKS_DIFFER_MAX;
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
