import { formatSpan, type Span } from '../../format/range.ts';
import type { Zone } from '../../format/show.ts';

export type DataColor = `data-${1 | 2 | 3 | 4 | 5 | 6 | 7 | 'other' | 'bad'}` | 'border-control';

export interface ChartSeries {
  readonly label: string;
  readonly color: DataColor;
  /** The share of its colour, of bars; the rest is the ground. */
  readonly alpha?: number;
  /** One per span; null: no value. */
  readonly values: readonly (number | null)[];
  /** `range`: an extreme, drawn faintly. */
  readonly kind?: 'area' | 'line' | 'dashed' | 'range' | 'bar';
  /** Shades the area between this series and the one at that index. */
  readonly bandTo?: number;
  /** A search for the events of the series. */
  readonly search?: string | undefined;
}

export interface Chart {
  readonly title: string;
  /** Time buckets of the values, ascending; one that ends where it begins is an instant. */
  readonly spans: readonly Span[];
  /** Why the values cover only a part of a span, by its place: it is not over, or the range of the answer cuts it. */
  readonly partial: ReadonlyMap<number, 'so far' | 'partial'>;
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
  /** Stacks the areas or bars. */
  readonly stacked?: boolean;
  readonly thresholds?: readonly Readonly<{ value: number; label: string; color: 'warn' | 'bad' }>[];
  /** Stretches of time with another ground. */
  readonly shades?: readonly (Span & { readonly color: 'sunken' | 'accent-soft' })[];
  /** Instants with a line across, seconds since the epoch. */
  readonly instants?: readonly number[];
  /** The legend's text of a series while no instant is selected. */
  readonly summary: (values: readonly (number | null)[]) => string;
}

export function areBars({ series }: Pick<Chart, 'series'>): boolean {
  return series.some(({ kind }) => kind === 'bar');
}

/** Places of spans, both inclusive. */
export interface Selection {
  readonly first: number;
  readonly last: number;
}

/** The place of the span that an instant is in; null: in none. @param seconds since the epoch */
export function findPlace(spans: readonly Span[], seconds: number | null): number | null {
  if (seconds === null) return null;
  const place = spans.findLastIndex(({ from }) => from <= seconds);
  const span = spans[place];
  if (span === undefined) return null;
  return seconds < span.until || seconds === span.from ? place : null;
}

/** The places of the spans within a stretch of time; undefined: there are none. */
export function findSelection(spans: readonly Span[], stretch: Span | undefined): Selection | undefined {
  if (stretch === undefined) return undefined;
  const first = spans.findIndex(({ from }) => from >= stretch.from);
  const last = spans.findLastIndex(({ until }) => until <= stretch.until);
  return first === -1 || last < first ? undefined : { first, last };
}

export function rangeOf(spans: readonly Span[]): Span {
  return { from: spans[0]?.from ?? 0, until: spans.at(-1)?.until ?? 0 };
}

/** `2026-11-20 07:00 – 08:00 · so far` */
export function describeAt(
  { spans, partial }: Pick<Chart, 'spans' | 'partial'>,
  at: number,
  zone: Zone,
): string {
  const span = spans[at];
  if (span === undefined) return '';
  return [formatSpan(span, { zone, range: rangeOf(spans) }), partial.get(at)].filter(Boolean).join(' · ');
}
