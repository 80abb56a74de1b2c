import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { offsetOf } from '../../../format/time-axis.ts';
import { usePreference } from '../../../preference.ts';
import { type ChartExtras, createBarOptions, HEIGHT_PX, stack } from './bar-options.ts';
import type { Bars } from './series.ts';

interface Counted {
  readonly bars: Bars;
  readonly widthMs: number;
  /** Earlier time buckets are not counted yet. */
  readonly countedBackToMs: number;
}

interface BarChartProps {
  readonly counted: Counted;
  readonly extras: ChartExtras;
  /** Index of the time bucket under the pointer. */
  readonly at: number | undefined;
  readonly onPoint: (at: number | undefined) => void;
  /** Called with whole time buckets: the first, and the one behind the last. `isMark`: with Shift, or by the key m. */
  readonly onSelect: (fromMs: number, untilMs: number, isMark: boolean) => void;
}

/** Stacked bars over time. Drag, or Shift with arrow keys and Enter, selects a range of time. */
export function BarChart({ counted, extras, at, onPoint, onSelect }: BarChartProps) {
  const { preference, shown } = usePreference();
  const { zone } = preference;
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const anchor = useRef<number>(undefined);
  const selected = useRef(onSelect);
  selected.current = onSelect;
  const isShift = useRef(false);
  const [{ bars, widthMs, countedBackToMs }, hold] = useHeld(counted);
  const release = () => {
    anchor.current = undefined;
    hold(false);
  };

  // `shown`: the chart reads its colours from the style sheet when it is created, so a new theme needs a new chart.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const { chart, unmount } = mount(
      createBarOptions({
        ...{ bars, widthMs, countedBackToMs, extras, onPoint },
        offsetAt: offsetOf(zone),
        widthPx: element.clientWidth,
        onZoom: (from, until) => selected.current(from, until, isShift.current),
      }),
      stack(bars),
      element,
    );
    plot.current = chart;
    return () => {
      unmount();
      plot.current = null;
    };
  }, [bars, widthMs, countedBackToMs, extras, zone, shown, onPoint]);

  const onKeyDown = (event: KeyboardEvent) => {
    const { current: chart } = plot;
    const last = bars.starts.length - 1;
    const now = Math.min(last, at ?? last);
    const from = anchor.current ?? now;
    if (chart === null || last < 0) return;
    if (event.key === 'Enter' || event.key === 'm') {
      release();
      return onSelect(...spanOf({ bars, widthMs }, from, now), event.key === 'm');
    }
    const to = findTarget(event.key, now, last);
    if (to === undefined) return;
    event.preventDefault();
    anchor.current = event.shiftKey ? from : undefined;
    hold(event.shiftKey);
    select(chart, { from: event.shiftKey ? from : undefined, to, bars, widthMs });
  };
  return (
    <div
      className="histogram-plot"
      ref={host}
      role="application"
      tabIndex={0}
      aria-label="Events over time: arrow keys walk through the time buckets, with Shift they select some, Enter zooms to them, m marks them to compare"
      onKeyDown={onKeyDown}
      onBlur={release}
      onPointerDown={() => hold(true)}
      onPointerUp={({ shiftKey }) => {
        isShift.current = shiftKey; // before uPlot reports the selection
        release();
      }}
      onPointerLeave={release}
    />
  );
}

/** Creates a chart that is as wide as its element. */
function mount(options: uPlot.Options, data: uPlot.AlignedData, element: HTMLElement) {
  const chart = new uPlot(options, data, element);
  const resized = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
  resized.observe(element);
  const unmount = () => {
    resized.disconnect();
    chart.destroy();
  };
  return { chart, unmount };
}

/** The start of the first of two time buckets, and the end of the last, ms since the epoch. */
function spanOf({ bars, widthMs }: Pick<Counted, 'bars' | 'widthMs'>, a: number, b: number) {
  const [first = 0] = bars.starts;
  return [first + Math.min(a, b) * widthMs, first + (Math.max(a, b) + 1) * widthMs] as const;
}

/** Returns the counts, and a function that keeps it: while a range is being selected, new bars would drop the selection. */
function useHeld(counted: Counted): [Counted, (isHeld: boolean) => void] {
  const [held, setHeld] = useState<Counted>();
  const shown = held ?? counted;
  return [shown, (isHeld) => setHeld(isHeld ? shown : undefined)];
}

function findTarget(key: string, now: number, last: number): number | undefined {
  return { ArrowLeft: Math.max(0, now - 1), ArrowRight: Math.min(last, now + 1), Home: 0, End: last }[key];
}

interface Selection extends Pick<Counted, 'bars' | 'widthMs'> {
  readonly from: number | undefined;
  readonly to: number;
}

/** Points at a time bucket, and marks those from another one to it. */
function select(chart: uPlot, { from, to, bars, widthMs }: Selection): void {
  const leftOf = (i: number) => chart.valToPos(((bars.starts[0] ?? 0) + i * widthMs) / 1000, 'x');
  chart.setCursor({ left: leftOf(to + 0.5), top: HEIGHT_PX / 3 });
  const left = leftOf(Math.min(from ?? to, to));
  const width = from === undefined ? 0 : leftOf(Math.max(from, to) + 1) - left;
  chart.setSelect({ left, width, top: 0, height: chart.over.clientHeight }, false);
}
