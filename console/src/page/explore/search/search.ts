import type { ApiError } from '../../../api/client.ts';
import { type Values, withQuery } from '../../../format/path.ts';
import { resolveRange, type TimeRange } from '../../../format/range.ts';
import { fromMicros } from '../../../format/time.ts';
import type { ExploreAddress } from '../address.ts';
import { ceilTo, chooseWidthMs, floorTo, type Slice } from './slice.ts';

/** A search of fixed bounds: `from` inclusive, `until` exclusive, ms since the epoch. NaN for texts that are not instants. */
export interface Search extends Slice {
  readonly q: string;
  readonly source: readonly string[];
  readonly project: string;
  /** The present: there are no later events yet. */
  readonly nowMs: number;
  /** Width of a time bucket. Buckets begin at multiples of it in a zone with this offset. */
  readonly widthMs: number;
  readonly offsetMs: number;
}

type Asked = Pick<ExploreAddress, 'q' | 'source' | 'project' | 'range' | 'from' | 'until'>;

export function rangeOf({ range, from, until }: Pick<Asked, 'range' | 'from' | 'until'>): TimeRange {
  if (from !== undefined && until !== undefined) return { kind: 'absolute', from, until };
  return { kind: 'last', range: range ?? '1h' };
}

/** The part of an address that is a range. An absolute one is not live. */
export function toAsked(range: TimeRange): Partial<ExploreAddress> {
  return range.kind === 'last'
    ? { range: range.range, from: undefined, until: undefined }
    : { range: undefined, from: range.from, until: range.until, live: false };
}

/** @param offsetMs of the displayed zone from UTC */
export function resolveSearch(asked: Asked, nowMs: number, offsetMs: number): Search {
  const { q, source, project } = asked;
  const range = rangeOf(asked);
  const { fromMs, untilMs } = clamp(resolveRange(range, nowMs));
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

/** Returns the part of an address that always shows the events of a search up to an instant. */
export function toFixed({ fromMs, untilMs }: Search, endMs: number): Partial<ExploreAddress> {
  return { ...toRange(fromMs, Math.max(fromMs + 1, Math.min(untilMs, endMs))), live: false };
}

/** The part of an address that is the range between two instants. */
export function toRange(fromMs: number, untilMs: number) {
  return { range: undefined, from: toIso(fromMs), until: toIso(untilMs) };
}

/** The instants that the service distinguishes: 1900 to June 2255. A slice beyond them would have no length there. */
function clamp({ fromMs, untilMs }: Slice): Slice {
  return { fromMs: Math.max(fromMs, EARLIEST_MS), untilMs: Math.min(untilMs, LATEST_MS) };
}

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
