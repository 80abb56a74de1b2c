import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatTime, zoneName } from '../format/time.ts';
import { usePreference } from '../preference.ts';
import './time-chart.css';

export type DataColor = 'data-1' | 'data-2' | 'data-3' | 'data-4' | 'data-bad';

export interface ChartSeries {
  readonly label: string;
  readonly color: DataColor;
  /** One per time; null: no value. */
  readonly values: readonly (number | null)[];
  /** `range`: an extreme, drawn faintly; the axis includes it. */
  readonly kind?: 'area' | 'line' | 'dashed' | 'range';
  /** Shades the area between this series and the one at that index. */
  readonly bandTo?: number;
}

export interface TimeChartProps {
  readonly title: string;
  /** Seconds since the epoch, ascending. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
  /** Stacks the areas. */
  readonly stacked?: boolean;
  /** The legend's text of a series while no instant is selected. */
  readonly summary: (values: readonly (number | null)[]) => string;
}

const HEIGHT_PX = 240;

/**
 * Values over time. Mouse, touch and arrow keys select an instant; the legend shows its values, which a
 * screen reader announces.
 */
export function TimeChart({ title, times, series, format, stacked = false, summary }: TimeChartProps) {
  const { preference, shown } = usePreference();
  const { zone } = preference;
  const id = useId();
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const [at, setAt] = useState<number | null>(null);

  // `shown`: the chart reads its colours from the style sheet when it is created, so a new theme needs a new chart.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const made = new uPlot(
      createOptions({ series, format, stacked, zone, width: element.clientWidth, onPoint: setAt }),
      toData(times, series, stacked),
      element,
    );
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [times, series, format, stacked, zone, shown]);

  const point = (index: number) => {
    const chart = plot.current;
    const time = times[index];
    if (chart === null || time === undefined) return;
    chart.setCursor({ left: chart.valToPos(time, 'x'), top: HEIGHT_PX / 3 });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const last = times.length - 1;
    const now = at ?? last;
    const to = {
      ArrowLeft: Math.max(0, now - 1),
      ArrowRight: Math.min(last, now + 1),
      Home: 0,
      End: last,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    point(to);
  };
  const time = at === null ? undefined : times[at];
  return (
    <figure className="chart" aria-labelledby={id}>
      <figcaption className="chart-head">
        <h3 id={id}>{title}</h3>
        <span className="small muted number">
          {time === undefined ? `times in ${zoneName(zone)}` : formatTime(time * 1000, zone)}
        </span>
      </figcaption>
      <ul className="legend" aria-live="polite">
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
      </ul>
      <div
        className="chart-plot"
        ref={host}
        role="application"
        tabIndex={0}
        aria-label={`${title}: arrow keys walk through the instants`}
        onKeyDown={onKeyDown}
      />
    </figure>
  );
}

interface OptionParts extends Pick<TimeChartProps, 'series' | 'format'> {
  readonly stacked: boolean;
  readonly zone: 'local' | 'utc';
  readonly width: number;
  readonly onPoint: (index: number | null) => void;
}

function createOptions({ series, format, stacked, zone, width, onPoint }: OptionParts): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const font = `11px ${color('font')}`;
  const axis = {
    stroke: color('text-3'),
    font,
    ticks: { show: false },
    grid: { stroke: color('grid'), width: 1 },
  };
  const bands = stacked
    ? series.slice(1).map((_one, i): uPlot.Band => ({ series: [i + 2, i + 1] }))
    : series.flatMap((one, i): uPlot.Band[] =>
        one.bandTo === undefined
          ? []
          : [{ series: [i + 1, one.bandTo + 1], fill: toAlpha(color(one.color), 0.13) }],
      );
  return {
    width,
    height: HEIGHT_PX,
    ...(zone === 'utc' && { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') }),
    legend: { show: false },
    padding: [8, 22, 0, 0],
    cursor: { y: false, drag: { x: true, y: false }, points: { size: 7 } },
    hooks: { setCursor: [(self) => onPoint(self.cursor.idx ?? null)] },
    scales: { y: { range: (_self, _min, max) => [0, max > 0 ? max * 1.08 : 1] } },
    axes: [
      { ...axis, grid: { show: false }, space: 72, size: 44, values: TIME_LABELS },
      { ...axis, size: 64, space: 40, values: (_self, values) => values.map((value) => format(value)) },
    ],
    bands,
    series: [{}, ...series.map((one) => toSeries(one, color, stacked))],
  };
}

const DAY = '\n{D} {MMM}';
/** uPlot's table: width of a step in seconds, its label, and the additions at the start of a year, month, day … */
const TIME_LABELS: uPlot.Axis.Values = [
  [31_536_000, '{YYYY}', null, null, null, null, null, null, 1],
  [2_419_200, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [86_400, '{D} {MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [60, '{HH}:{mm}', DAY, null, DAY, null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', DAY, null, DAY, null, null, null, 1],
];

function toSeries(
  { label, color: name, kind = 'area', values }: ChartSeries,
  color: (name: string) => string,
  stacked: boolean,
): uPlot.Series {
  const stroke = color(name);
  const fill = toAlpha(stroke, stacked ? 0.45 : 0.16);
  return {
    label,
    stroke: kind === 'range' ? toAlpha(stroke, 0.35) : stroke,
    width: kind === 'range' ? 1 : 1.75,
    ...(kind === 'dashed' && { dash: [5, 4] }),
    ...(kind === 'area' && { fill }),
    // A value between two gaps is not on a line, so it gets a point.
    points: { size: 4, fill: stroke, show: values.length < 3 || values.includes(null) },
  };
}

function toData(
  times: readonly number[],
  series: readonly ChartSeries[],
  stacked: boolean,
): uPlot.AlignedData {
  const sums = times.map(() => 0);
  const ys = series.map(({ values }) =>
    stacked
      ? values.map((value, i) => {
          sums[i] = (sums[i] ?? 0) + (value ?? 0);
          return sums[i] ?? 0;
        })
      : [...values],
  );
  return [[...times], ...ys];
}

function toAlpha(color: string, alpha: number): string {
  return `color-mix(in srgb, ${color} ${alpha * 100}%, transparent)`;
}
