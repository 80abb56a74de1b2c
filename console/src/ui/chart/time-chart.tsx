import { type ReactNode, useId, useRef, useState } from 'react';
import { type Zone, zoneName } from '../../format/time.ts';
import { formatSpan } from '../../format/time-axis.ts';
import { usePreference } from '../../preference.ts';
import { QuietButton } from '../button.tsx';
import type { Chart } from './chart.ts';
import { Plot, type PlotProps } from './plot.tsx';
import './time-chart.css';

export interface TimeChartProps extends PlotProps {
  readonly onReset: () => void;
  /** Whether something around the chart shows its title; screen readers have it all the same. */
  readonly hidesTitle?: boolean | undefined;
  /** Shown instead of the title: the actions of the selection. */
  readonly children: ReactNode | undefined;
}

/** Values over time, with a legend that shows those at the cursor, and a screen reader announces. */
export function TimeChart({ onReset, hidesTitle = false, children, ...plot }: TimeChartProps) {
  const { chart, at, zoom } = plot;
  const id = useId();
  const { zone } = usePreference().preference;
  const [hasFocus, setHasFocus] = useState(false);
  const tag = useRef<HTMLSpanElement>(null);
  const { title } = chart;
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
        <Plot
          {...plot}
          label={`${title}: arrow keys move through the times, with Shift they select a range, Enter opens it`}
          onReset={onReset}
          onFocus={setHasFocus}
          onCursor={(left, width) => {
            if (tag.current === null) return;
            const { offsetWidth } = tag.current;
            const most = width - offsetWidth;
            tag.current.style.left = `${Math.max(0, Math.min(left - offsetWidth / 2, most))}px`;
          }}
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
              className={`chart-swatch is-${one.kind ?? 'area'}`}
              style={{ color: `var(--${one.color})` }}
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
          <span className="chart-swatch is-dashed" style={{ color: `var(--${color})` }} />
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
