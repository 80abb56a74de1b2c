import type { ApiError } from '../../api/client.ts';
import { resolveRange, type TimeRange } from '../../format/range.ts';
import { fromMicros } from '../../format/show.ts';
import { type Values, withQuery } from '../../format/values.ts';
import type { ExploreAddress } from './address.ts';

/** A search of fixed bounds: `from` inclusive, `until` exclusive, ms since the epoch. NaN for texts that are not instants. */
export interface Search extends Slice {
  readonly q: string;
  readonly source: readonly string[];
  readonly project: string;
  /** The present, beyond which nothing is counted. */
  readonly nowMs: number;
  /** Width of a time bucket. Buckets begin at multiples of it in a zone with this offset. */
  readonly widthMs: number;
  readonly offsetMs: number;
}

type Asked = Pick<ExploreAddress, 'q' | 'source' | 'project' | 'range'>;

/** @param offsetMs of the displayed zone from UTC */
export function resolveSearch(asked: Asked, nowMs: number, offsetMs: number): Search {
  const { q, source, project, range } = asked;
  const bounds = resolveRange(range, nowMs);
  const [fromMs, untilMs] = [Math.max(bounds.fromMs, EARLIEST_MS), Math.min(bounds.untilMs, LATEST_MS)];
  const widthMs = chooseWidthMs(untilMs - fromMs);
  // Ranges that end now are of whole time buckets, so only the one that is not over yet is partial.
  const isWhole = range.kind === 'last';
  return {
    ...{ q, source, project, nowMs, widthMs, offsetMs },
    fromMs: isWhole ? floorTo(fromMs, widthMs, offsetMs) : fromMs,
    untilMs: isWhole ? ceilTo(untilMs, widthMs, offsetMs) : untilMs,
  };
}

/** Returns the fault of a search's text, which its field shows: no other place repeats it. */
export function faultOf(error: ApiError | undefined): ApiError['errors'][number] | undefined {
  return error?.errors.find(({ parameter }) => parameter === 'q');
}

export function toRange(fromMs: number, untilMs: number): TimeRange {
  return { kind: 'absolute', from: toIso(fromMs), until: toIso(untilMs) };
}

/** The instants that the service distinguishes: 1900 to June 2255. A slice beyond them would have no length there. */
const EARLIEST_MS = Date.UTC(1900, 0, 1);
const LATEST_MS = Math.floor(Number.MAX_SAFE_INTEGER / 1000);

/** Whether two searches are for the same, at any time. */
export function hasSameEvents(a: Search, b: Search): boolean {
  return a.q === b.q && a.project === b.project && a.source.join() === b.source.join();
}

/** The path of the API for a part of the answer within bounds; without them, of everything. */
export function searchPath(...of: Parameters<typeof searchParameters>): string {
  return withQuery('/api/search', searchParameters(...of));
}

/** The parameters of that path; empty ones are not sent. */
export function searchParameters(
  { q, source, project }: Pick<Search, 'q' | 'source' | 'project'>,
  bounds: Slice | undefined,
  more: Values,
): Values {
  return {
    q,
    source: source.join(','),
    project,
    from: bounds === undefined ? '' : toIso(bounds.fromMs),
    until: bounds === undefined ? '' : toIso(bounds.untilMs),
    ...more,
  };
}

/** Formats an instant to the microsecond. The service reports an invalid one. */
function toIso(ms: number): string {
  const date = new Date(Math.floor(ms));
  if (Number.isNaN(date.getTime())) return String(ms);
  return Number.isInteger(ms) ? date.toISOString() : fromMicros(Math.round(ms * 1_000));
}

/** The same search in the range of the same length that ends where this one begins. */
export function toBefore(search: Search): Search {
  const lengthMs = search.untilMs - search.fromMs;
  return { ...search, fromMs: search.fromMs - lengthMs, untilMs: search.fromMs };
}

/** A part of a range: `from` inclusive, `until` exclusive, ms since the epoch; fractions are microseconds. */
export interface Slice {
  readonly fromMs: number;
  readonly untilMs: number;
}

type Grid = Pick<Search, 'widthMs' | 'offsetMs'>;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const WIDTHS_MS: readonly number[] = [
  ...[1, 5, 10, 50, 100, 500],
  ...[SECOND_MS, MINUTE_MS].flatMap((unit) => [1, 5, 10, 30].map((count) => count * unit)),
  ...[1, 3, 6, 12].map((count) => count * HOUR_MS),
  DAY_MS,
];
const BUCKETS_MAX = 75;
/** Longer ranges are searched slice by slice. */
const SLICED_MS = DAY_MS;
const SLICES_MAX = 12;

/** The width of a time bucket for a range: a round one, so that there are 15 to 75. */
function chooseWidthMs(lengthMs: number): number {
  const days = Math.max(1, Math.ceil(lengthMs / BUCKETS_MAX / DAY_MS) || 1);
  return WIDTHS_MS.find((width) => lengthMs / width <= BUCKETS_MAX) ?? days * DAY_MS;
}

export function floorTo(ms: number, widthMs: number, offsetMs: number): number {
  return Math.floor((ms + offsetMs) / widthMs) * widthMs - offsetMs;
}

export function ceilTo(ms: number, widthMs: number, offsetMs: number): number {
  return Math.ceil((ms + offsetMs) / widthMs) * widthMs - offsetMs;
}

/** Slices of a range, newest first, which meet between two time buckets. The service rejects a range without a length. */
export function planSlices({ fromMs, untilMs, widthMs, offsetMs }: Slice & Grid): readonly Slice[] {
  // A day of whole time buckets may be longer by two of them.
  if (!(untilMs - fromMs > SLICED_MS + 2 * widthMs)) return [{ fromMs, untilMs }];
  const end = ceilTo(untilMs, widthMs, offsetMs);
  const buckets = Math.ceil((end - fromMs) / widthMs);
  const count = Math.min(SLICES_MAX, Math.round((end - fromMs) / SLICED_MS));
  const lengthMs = Math.ceil(buckets / count) * widthMs;
  const slices: Slice[] = [];
  for (let until = end; until > fromMs; until -= lengthMs)
    slices.push({ fromMs: Math.max(fromMs, until - lengthMs), untilMs: Math.min(untilMs, until) });
  return slices;
}

/** The counts of a slice, newest first. The service's buckets begin with the range: those that the bounds cut are apart. */
export function planCounts(
  { fromMs, untilMs }: Slice,
  { widthMs, offsetMs }: Grid,
): (Slice & { readonly buckets: number })[] {
  const first = ceilTo(fromMs, widthMs, offsetMs);
  const last = floorTo(untilMs, widthMs, offsetMs);
  if (!(first <= last)) return [{ fromMs, untilMs, buckets: 1 }];
  return [
    { fromMs: last, untilMs, buckets: 1 },
    { fromMs: first, untilMs: last, buckets: Math.round((last - first) / widthMs) },
    { fromMs, untilMs: first, buckets: 1 },
  ].filter((count) => count.fromMs < count.untilMs);
}
