import type { Span } from '../../format/time-axis.ts';

export type DataColor = 'data-1' | 'data-2' | 'data-3' | 'data-4' | 'data-bad';

export interface ChartSeries {
  readonly label: string;
  readonly color: DataColor;
  /** One per span; null: no value. */
  readonly values: readonly (number | null)[];
  /** `range`: an extreme, drawn faintly; `wide`: visible even below a line with the same values. */
  readonly kind?: 'area' | 'line' | 'dashed' | 'range' | 'wide';
  /** Shades the area between this series and the one at that index. */
  readonly bandTo?: number;
  /** A search for the events of the series. */
  readonly search?: string | undefined;
}

export interface Chart {
  readonly title: string;
  /** Time buckets of the values, ascending; one that ends where it begins is an instant. */
  readonly spans: readonly Span[];
  /** Places of the spans of which the values cover only a part. */
  readonly partial: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
  /** Stacks the areas. */
  readonly stacked?: boolean;
  /** The legend's text of a series while no instant is selected. */
  readonly summary: (values: readonly (number | null)[]) => string;
}

/** Places of spans, both inclusive. */
export interface Selection {
  readonly first: number;
  readonly last: number;
}
