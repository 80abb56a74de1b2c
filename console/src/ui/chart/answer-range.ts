import type { EndpointView } from '../../../../src/management/view.ts';
import type { Row } from '../../api/answer.ts';
import { ownMember } from '../../format/own.ts';
import type { Span } from '../../format/time-axis.ts';
import type { Chart } from './chart.ts';
import { findBounds } from './panel-chart.ts';

export interface Drawn {
  readonly columns: Columns;
  readonly rows: readonly Row[];
  /** What it covers, if that is known. */
  readonly range?: AnswerRange | undefined;
}

export type Columns = EndpointView['columns'];

/** What an answer covers, in seconds since the epoch; undefined: not known. */
export type AnswerRange = ReturnType<typeof findAnswerRange>;

type Called = Pick<EndpointView, 'parameters'>;

/**
 * By parameters of type timestamp with such names.
 *
 * @param atMs instant of the answer's query, ms since the epoch
 */
export function findAnswerRange(
  { parameters }: Called,
  values: Readonly<Record<string, string>>,
  atMs: number,
) {
  const textOf = (name: string) =>
    ownMember(values, name) || (parameters.find((one) => one.name === name)?.default ?? '');
  const bounds = findBounds(parameters);
  const boundOf = (side: keyof typeof bounds) => {
    const name = bounds[side];
    const seconds = name === undefined ? Number.NaN : parseTime(textOf(name));
    return Number.isNaN(seconds) ? undefined : seconds;
  };
  const now = atMs / 1000;
  const until = Math.min(boundOf('until') ?? now, now);
  return {
    from: boundOf('from'),
    until,
    /** Whether it ends at the instant of the query. */
    isOpen: until === now,
  };
}

/** Seconds since the epoch. Without a zone it is UTC, as the service reads it. */
function parseTime(text: string): number {
  const hasZone = /(?:Z|[+-]\d\d(?::?\d\d)?)$/i.test(text);
  return Date.parse(hasZone || text.length <= 'YYYY-MM-DD'.length ? text : `${text}Z`) / 1000;
}

/** The spans of which the answer has only a part, by their places: they begin before its range, or end after it. */
function findPartial(spans: readonly Span[], { from, until, isOpen }: AnswerRange): Chart['partial'] {
  const partial = new Map<number, 'so far' | 'partial'>();
  for (const [i, span] of spans.entries()) {
    if (span.until > until) partial.set(i, isOpen ? 'so far' : 'partial');
    else if (span.from < (from ?? span.from)) partial.set(i, 'partial');
  }
  return partial;
}

/** Seconds since the epoch, of microseconds or of a text in ISO 8601, UTC without a zone. NaN: it is neither. */
export function toSeconds(value: unknown): number {
  if (typeof value === 'string') return parseTime(value);
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) / 1e6 : Number.NaN;
}

const POINTS_MAX = 5_000;

export type Grid = ReturnType<typeof toGrid>;

/**
 * Empty time buckets are not returned: fills the grid from the first to the last bucket with rows.
 *
 * @param seconds of the rows, in any order
 * @param range of the answer; the width of a bucket is the least distance of two rows, and one row is of all the rest of the range
 */
export function toGrid(seconds: readonly number[], range: AnswerRange | undefined) {
  const sorted = [...new Set(seconds)].filter(Number.isFinite).sort((a, b) => a - b);
  const [first = 0] = sorted;
  const end = sorted.at(-1) ?? 0;
  const width = Math.min(...sorted.slice(1).map((second, i) => second - (sorted[i] ?? 0)));
  const hasWidth = Number.isFinite(width);
  const count = hasWidth ? Math.round((end - first) / width) + 1 : sorted.length;
  const isEven = hasWidth && sorted.every((second) => Math.abs(((second - first) / width) % 1) < 1e-6);
  const isFilled = isEven && count <= POINTS_MAX && sorted.length > 1;
  const times = isFilled ? Array.from({ length: count }, (_, i) => first + i * width) : sorted;
  const spans = times.map((from, i): Span => {
    const next = isEven ? undefined : times[i + 1];
    const until = hasWidth ? from + width : Math.max(from, range?.until ?? from);
    return { from, until: next ?? until };
  });
  const partial: Chart['partial'] = range === undefined ? new Map() : findPartial(spans, range);
  return {
    spans,
    partial,
    /** Whether the spans have one width. */
    isEven,
    /** Places by the start of a span, in seconds. */
    placeOf: new Map(times.map((time, place) => [time, place])),
  };
}
