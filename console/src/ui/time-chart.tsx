import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { type Zone, zoneName } from '../format/time.ts';
import { formatSpan, offsetOf, type Span } from '../format/time-axis.ts';
import { usePreference } from '../preference.ts';
import { createOptions, HEIGHT_PX, toData } from './chart-options.ts';
import './time-chart.css';

export type DataColor = 'data-1' | 'data-2' | 'data-3' | 'data-4' | 'data-bad';

export interface ChartSeries {
  readonly label: string;
  readonly color: DataColor;
  /** One per span; null: no value. */
  readonly values: readonly (number | null)[];
  /** `range`: an extreme, drawn faintly; `wide`: to be seen also below a line with the same values. */
  readonly kind?: 'area' | 'line' | 'dashed' | 'range' | 'wide';
  /** Shades the area between this series and the one at that index. */
  readonly bandTo?: number;
  /** A search for the events that the series is about. */
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

interface TimeChartProps {
  readonly chart: Chart;
  /** Place of the span that the cursor is at. */
  readonly at: number | null;
  readonly onPoint: (at: number | null) => void;
  readonly selected: Selection | undefined;
  /** @param opens whether the focus goes to what the selection offers */
  readonly onSelect: (selected: Selection | undefined, opens: boolean) => void;
  readonly zoom: Selection | undefined;
  readonly onReset: () => void;
  /** In the place of the title: what the selection offers. */
  readonly children: ReactNode | undefined;
}

/**
 * Values over time. Mouse, touch and arrow keys move the cursor, whose values the legend shows, and a screen reader announces; click,
 * Enter, drag and Shift with arrow keys select.
 */
export function TimeChart(props: TimeChartProps) {
  const { chart, at, onPoint, selected, onSelect, zoom, onReset, children } = props;
  const id = useId();
  const { zone } = usePreference().preference;
  const [hasFocus, setHasFocus] = useState(false);
  const { host, tag, plot } = usePlot(props);
  const { title, spans } = chart;

  const onKeyDown = (event: KeyboardEvent) => {
    const last = spans.length - 1;
    const now = at ?? last;
    const moves = {
      ArrowLeft: Math.max(0, now - 1),
      ArrowRight: Math.min(last, now + 1),
      Home: 0,
      End: last,
    };
    const to = Object.entries(moves).find(([key]) => key === event.key)?.[1];
    if (to !== undefined) {
      onPoint(to);
      onSelect(event.shiftKey ? extend(selected ?? { first: now, last: now }, now, to) : undefined, false);
    } else if (event.key === 'Enter') onSelect(selected ?? { first: now, last: now }, true);
    else if (event.key === 'Escape') onSelect(undefined, false);
    else return;
    event.preventDefault();
  };
  const onClick = () => {
    const index = plot.current?.cursor.idx;
    if (index != null) onSelect({ first: index, last: index }, false);
  };
  return (
    <figure className="chart" aria-labelledby={id}>
      <figcaption className="chart-head">
        <h3 id={id} className={children === undefined ? '' : 'visually-hidden'}>
          {title}
        </h3>
        {children ?? <span className="small muted">times in {zoneName(zone)}</span>}
        {zoom !== undefined && (
          <button type="button" className="button quiet" onClick={onReset}>
            Reset zoom
          </button>
        )}
      </figcaption>
      <Legend chart={chart} at={at} isLive={hasFocus} />
      <div className="chart-frame">
        <div
          className="chart-plot"
          ref={host}
          role="application"
          tabIndex={0}
          aria-label={`${title}: arrow keys move through the times, with Shift they select a range, Enter opens it`}
          onKeyDown={onKeyDown}
          onClick={onClick}
          onDoubleClick={onReset}
          onFocus={() => setHasFocus(true)}
          onBlur={() => setHasFocus(false)}
        />
        <span className="chart-time small number" ref={tag} aria-hidden="true">
          {at !== null && describeAt(chart, at, zone)}
        </span>
      </div>
    </figure>
  );
}

interface LegendProps extends Pick<TimeChartProps, 'chart' | 'at'> {
  readonly isLive: boolean;
}

/** The values at the cursor, or a summary. */
function Legend({ chart, at, isLive }: LegendProps) {
  const { zone } = usePreference().preference;
  const { partial, series, format, summary } = chart;
  return (
    <ul className="legend" aria-live={isLive ? 'polite' : 'off'}>
      {series.map((one) => {
        const value = at === null ? undefined : one.values[at];
        return (
          <li key={one.label}>
            <span className={`swatch ${one.kind ?? 'area'} ${one.color}`} />
            <span className="muted">{one.label}</span>
            <span className="number legend-value">
              {value === undefined ? summary(one.values) : value === null ? '–' : format(value)}
            </span>
          </li>
        );
      })}
      {partial.length > 0 && (
        <li>
          <span className="swatch partial" />
          <span className="muted">partial</span>
        </li>
      )}
      {at !== null && <li className="visually-hidden">{describeAt(chart, at, zone)}</li>}
    </ul>
  );
}

/** `2026-11-20 07:00 – 08:00 · partial` */
function describeAt({ spans, partial }: Chart, at: number, zone: Zone): string {
  const span = spans[at];
  if (span === undefined) return '';
  const range = { from: spans[0]?.from ?? 0, until: spans.at(-1)?.until ?? 0 };
  return `${formatSpan(span, { zone, range })}${partial.includes(at) ? ' · partial' : ''}`;
}

/** The end of a selection that is at `from` goes to `to`. */
function extend({ first, last }: Selection, from: number, to: number): Selection {
  const fixed = from === last ? first : last;
  return { first: Math.min(fixed, to), last: Math.max(fixed, to) };
}

/** Keeps a uPlot in `host` as the properties say. */
function usePlot({ chart, at, onPoint, selected, onSelect, zoom }: TimeChartProps) {
  const { preference, shown } = usePreference();
  const host = useRef<HTMLDivElement>(null);
  const tag = useRef<HTMLSpanElement>(null);
  const plot = useRef<uPlot>(null);
  const latest = useRef({ onPoint, onSelect, show: () => {} });
  const { spans, stacked = false } = chart;

  const show = () => {
    if (plot.current === null) return;
    showZoom(plot.current, spans, zoom);
    showSelection(plot.current, spans, selected);
  };
  latest.current = { onPoint, onSelect, show };

  // `shown`: the chart reads its colours from the style sheet when it is created, so a new theme needs a new chart.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const created: uPlot = new uPlot(
      createOptions({
        ...chart,
        stacked,
        offsetAt: offsetOf(preference.zone),
        width: element.clientWidth,
        onPoint: (index) => latest.current.onPoint(index),
        onDrag: (left, right) =>
          latest.current.onSelect({ first: created.posToIdx(left), last: created.posToIdx(right) }, false),
      }),
      toData(chart, stacked),
      element,
    );
    plot.current = created;
    const resized = new ResizeObserver(() => {
      created.setSize({ width: element.clientWidth, height: HEIGHT_PX });
      latest.current.show();
    });
    resized.observe(element);
    return () => {
      resized.disconnect();
      created.destroy();
      plot.current = null;
    };
  }, [chart, preference.zone, shown]);

  // Not with the cursor: while it is dragged, the selection is uPlot's.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new plot shows nothing yet
  useEffect(show, [chart, preference.zone, shown, selected, zoom]);
  useEffect(() => {
    if (plot.current !== null) showCursor(plot.current, spans[at ?? -1], tag.current);
  }, [spans, at]);
  return { host, tag, plot };
}

/** Moves the cursor, and the tag with its time. */
function showCursor(plot: uPlot, span: Span | undefined, tag: HTMLElement | null): void {
  if (span === undefined) {
    // Outside of the plot there is no cursor. Without the hook: all charts have this place already.
    if (plot.cursor.idx != null) plot.setCursor({ left: -10, top: -10 }, false);
    return;
  }
  const left = plot.valToPos(span.from, 'x');
  if (plot.data[0][plot.cursor.idx ?? -1] !== span.from) plot.setCursor({ left, top: HEIGHT_PX / 3 }, false);
  if (tag === null) return;
  const center = plot.over.offsetLeft + left;
  const most = plot.width - tag.offsetWidth;
  tag.style.left = `${Math.max(0, Math.min(center - tag.offsetWidth / 2, most))}px`;
}

function showZoom(plot: uPlot, spans: readonly Span[], zoom: Selection | undefined): void {
  const min = spans[zoom?.first ?? 0]?.from;
  const max = spans[zoom?.last ?? spans.length - 1]?.from;
  const { scales } = plot;
  if (min === undefined || max === undefined || min === max) return;
  if (scales['x']?.min !== min || scales['x']?.max !== max) plot.setScale('x', { min, max });
}

function showSelection(plot: uPlot, spans: readonly Span[], selected: Selection | undefined): void {
  const first = spans[selected?.first ?? -1];
  const last = spans[selected?.last ?? -1];
  const height = plot.over.clientHeight;
  if (first === undefined || last === undefined) {
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    return;
  }
  const limit = (left: number) => Math.min(Math.max(left, 0), plot.over.clientWidth);
  // Values are drawn at the start of their span: one value is a narrow stripe.
  const left = limit(plot.valToPos(first.from, 'x') - STRIPE_PX);
  const right = limit(plot.valToPos(last.from, 'x') + STRIPE_PX);
  plot.setSelect({ left, top: 0, width: right - left, height }, false);
}

const STRIPE_PX = 3;
