import { findBounds } from '../../../../src/management/panel-view.ts';
import type { EndpointView } from '../../../../src/management/view.ts';
import { ownMember } from '../../format/own.ts';
import type { Span } from '../../format/time-axis.ts';
import type { Chart } from './chart.ts';

/** What an answer covers, in seconds since the epoch; undefined: not known. */
export interface AnswerRange {
  readonly from: number | undefined;
  readonly until: number;
  /** Whether it ends at the instant of the query. */
  readonly isOpen: boolean;
}

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
  return { from: boundOf('from'), until, isOpen: until === now };
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
