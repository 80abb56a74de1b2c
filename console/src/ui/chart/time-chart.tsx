import { type KeyboardEvent, type ReactNode, useId, useState } from 'react';
import { type Zone, zoneName } from '../../format/time.ts';
import { formatSpan } from '../../format/time-axis.ts';
import { usePreference } from '../../preference.ts';
import { QuietButton } from '../button.tsx';
import type { Chart, Selection } from './chart.ts';
import './time-chart.css';
import { type PlotProps, usePlot } from './use-plot.ts';

export interface TimeChartProps extends PlotProps {
  readonly onReset: () => void;
  /** Whether something around the chart shows its title; screen readers have it all the same. */
  readonly hidesTitle?: boolean;
  /** Shown instead of the title: the actions of the selection. */
  readonly children: ReactNode | undefined;
}

/**
 * Values over time. Mouse, touch and arrow keys move the cursor, whose values the legend shows, and a screen reader announces; click,
 * Enter, drag and Shift with arrow keys select.
 */
export function TimeChart(props: TimeChartProps) {
  const { chart, at, onPoint, selected, onSelect, zoom, onReset, hidesTitle = false, children } = props;
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
        <h3 id={id} className={children === undefined && !hidesTitle ? '' : 'visually-hidden'}>
          {title}
        </h3>
        {children ?? (!hidesTitle && <span className="small muted">times in {zoneName(zone)}</span>)}
        {zoom !== undefined && <QuietButton onClick={onReset}>Reset zoom</QuietButton>}
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
  const { partial, series, thresholds = [], format, summary } = chart;
  return (
    <ul className="chart-legend" aria-live={isLive ? 'polite' : 'off'}>
      {series.map((one) => {
        const value = at === null ? undefined : one.values[at];
        return (
          <li key={one.label}>
            <span
              className={`chart-swatch is-${one.kind === 'bar' ? 'area' : (one.kind ?? 'area')} is-${one.color}`}
            />
            <span className="muted">{one.label}</span>
            <span className="number chart-legend-value">
              {value === undefined ? summary(one.values) : value === null ? '–' : format(value)}
            </span>
          </li>
        );
      })}
      {thresholds.map(({ label, color }) => (
        <li key={label}>
          <span className={`chart-swatch is-dashed is-${color}`} />
          <span className="muted">{label}</span>
        </li>
      ))}
      {[...new Set(partial.values())].map((reason) => (
        <li key={reason}>
          <span className="chart-swatch is-partial" />
          <span className="muted">{reason}</span>
        </li>
      ))}
      {at !== null && <li className="visually-hidden">{describeAt(chart, at, zone)}</li>}
    </ul>
  );
}

/** `2026-11-20 07:00 – 08:00 · so far` */
function describeAt({ spans, partial }: Chart, at: number, zone: Zone): string {
  const span = spans[at];
  if (span === undefined) return '';
  const range = { from: spans[0]?.from ?? 0, until: spans.at(-1)?.until ?? 0 };
  return [formatSpan(span, { zone, range }), partial.get(at)].filter(Boolean).join(' · ');
}

/** Moves the end of a selection from `from` to `to`. */
function extend({ first, last }: Selection, from: number, to: number): Selection {
  const fixed = from === last ? first : last;
  return { first: Math.min(fixed, to), last: Math.max(fixed, to) };
}
