import type { Span } from '../../format/time-axis.ts';
import { type AnswerRange, findPartial, parseTime } from './answer-range.ts';
import type { Chart } from './chart.ts';

/** Seconds since the epoch, of microseconds or of a text in ISO 8601, UTC without a zone. NaN: it is neither. */
export function toSeconds(value: unknown): number {
  if (typeof value === 'string') return parseTime(value);
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) / 1e6 : Number.NaN;
}

const POINTS_MAX = 5_000;

/** The times of a chart. */
export interface Grid {
  readonly spans: readonly Span[];
  readonly partial: Chart['partial'];
  /** Whether the spans have one width. */
  readonly isEven: boolean;
  /** Places by the start of a span, in seconds. */
  readonly placeOf: ReadonlyMap<number, number>;
}

/**
 * Empty time buckets are not returned: fills the grid from the first to the last bucket with rows.
 *
 * @param seconds of the rows, in any order
 * @param range of the answer; the width of a bucket is the least distance of two rows, and one row is of all the rest of the range
 */
export function toGrid(seconds: readonly number[], range: AnswerRange | undefined): Grid {
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
  return { spans, partial, isEven, placeOf: new Map(times.map((time, place) => [time, place])) };
}
