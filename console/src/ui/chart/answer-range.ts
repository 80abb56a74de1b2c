import { findBounds } from '../../../../src/management/panel-view.ts';
import type { EndpointView } from '../../../../src/management/view.ts';
import { ownMember } from '../../format/own.ts';
import type { Span } from '../../format/time-axis.ts';
import type { Chart } from './chart.ts';

/** What an answer covers, in seconds since the epoch, and the width of its time buckets; undefined: not known. */
export interface AnswerRange {
  readonly from: number | undefined;
  readonly until: number;
  /** Whether it ends at the instant of the query. */
  readonly isOpen: boolean;
  readonly widthSeconds: number | undefined;
}

type Called = Pick<EndpointView, 'bucket' | 'parameters'>;

/**
 * By the endpoint's `bucket`, or by parameters of type timestamp with such names.
 *
 * @param atMs instant of the answer's query, ms since the epoch
 */
export function findAnswerRange(
  { bucket, parameters }: Called,
  values: Readonly<Record<string, string>>,
  atMs: number,
): AnswerRange {
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
  const end = { until, isOpen: until === now };
  const span =
    bucket &&
    (ownMember(bucket.spans, bucket.by === null ? '' : textOf(bucket.by)) ??
      findFallback(bucket, parameters));
  if (bucket === null || span == null) return { from: boundOf('from'), ...end, widthSeconds: undefined };
  const start = now - span.range_seconds;
  const from = bucket.aligned ? Math.floor(start / span.width_seconds) * span.width_seconds : start;
  return { from, ...end, widthSeconds: bucket.column === 'timestamp' ? span.width_seconds : undefined };
}

/** Finds the entry of a value that the endpoint replaces by another one. */
function findFallback(bucket: NonNullable<EndpointView['bucket']>, parameters: EndpointView['parameters']) {
  const otherwise = parameters.find(({ name }) => name === bucket.by)?.otherwise;
  return typeof otherwise === 'string' ? ownMember(bucket.spans, otherwise) : undefined;
}

/** Seconds since the epoch. Without a zone it is UTC, as the service reads it. */
export function parseTime(text: string): number {
  const hasZone = /(?:Z|[+-]\d\d(?::?\d\d)?)$/i.test(text);
  return Date.parse(hasZone || text.length <= 'YYYY-MM-DD'.length ? text : `${text}Z`) / 1000;
}

/** The spans of which the answer has only a part, by their places: they begin before its range, or end after it. */
export function findPartial(spans: readonly Span[], { from, until, isOpen }: AnswerRange): Chart['partial'] {
  const partial = new Map<number, 'so far' | 'partial'>();
  for (const [i, span] of spans.entries()) {
    if (span.until > until) partial.set(i, isOpen ? 'so far' : 'partial');
    else if (span.from < (from ?? span.from)) partial.set(i, 'partial');
  }
  return partial;
}
