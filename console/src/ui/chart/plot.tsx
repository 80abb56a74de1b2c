import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { usePreference } from '../../preference.ts';
import { areBars, type Chart, type Selection } from './chart.ts';
import { createOptions, instantOf, toData } from './chart-options.ts';
import './plot.css';

/** How something was selected. `enter`: by a key that asks what can be done with it; `drag` may have been with Shift. */
export interface Selecting {
  readonly by: 'click' | 'drag' | 'keys' | 'enter';
  readonly isShift: boolean;
}

export interface PlotProps {
  readonly chart: Chart;
  /** Place of the span that the cursor is at. */
  readonly at: number | null;
  readonly onPoint: (at: number | null) => void;
  readonly selected: Selection | undefined;
  readonly onSelect: (selected: Selection | undefined, how: Selecting) => void;
  readonly zoom?: Selection | undefined;
  readonly heightPx?: number | undefined;
  readonly label: string;
  /** Called with the place of the cursor in CSS pixels. */
  readonly onCursor?: (leftPx: number, widthPx: number) => void;
  readonly onFocus?: (hasFocus: boolean) => void;
  readonly onReset?: () => void;
  /** Called with keys that the plot does not know. */
  readonly onKey?: (key: string) => void;
}

const HEIGHT_PX = 220;
const KEYS = { by: 'keys', isShift: false } as const;

/** A plot of values over time. Mouse, touch and arrow keys move the cursor; click, Enter, drag and Shift with arrow keys select. */
export function Plot({ chart: given, ...props }: PlotProps) {
  // While a range is being dragged, a new plot would drop it.
  const [held, setHeld] = useState<Chart>();
  const chart = held ?? given;
  const { host, plot } = usePlot({ ...props, chart });
  const { at, onPoint, selected, onSelect, onFocus, onReset, onKey, label } = props;

  const onKeyDown = (event: KeyboardEvent) => {
    const last = chart.spans.length - 1;
    const now = Math.min(at ?? last, last);
    const [before, next] = [Math.max(0, now - 1), Math.min(last, now + 1)];
    const to = { ArrowLeft: before, ArrowRight: next, Home: 0, End: last }[event.key];
    if (to !== undefined) {
      onPoint(to);
      onSelect(event.shiftKey ? extend(selected ?? { first: now, last: now }, now, to) : undefined, KEYS);
    } else if (event.key === 'Enter')
      onSelect(selected ?? { first: now, last: now }, { ...KEYS, by: 'enter' });
    else if (event.key === 'Escape') onSelect(undefined, KEYS);
    else return onKey?.(event.key);
    event.preventDefault();
  };
  const onClick = () => {
    const index = plot.current?.cursor.idx;
    if (index != null) onSelect({ first: index, last: index }, { ...KEYS, by: 'click' });
  };
  return (
    <div
      className="plot"
      ref={host}
      role="application"
      tabIndex={0}
      aria-label={label}
      onKeyDown={onKeyDown}
      onClick={onClick}
      onDoubleClick={onReset}
      onFocus={() => onFocus?.(true)}
      onBlur={() => onFocus?.(false)}
      onPointerDown={() => setHeld(chart)}
      onPointerUp={() => setHeld(undefined)}
      onPointerLeave={() => setHeld(undefined)}
    />
  );
}

/** Moves the end of a selection from `from` to `to`. */
function extend({ first, last }: Selection, from: number, to: number): Selection {
  const fixed = from === last ? first : last;
  return { first: Math.min(fixed, to), last: Math.max(fixed, to) };
}

function usePlot(props: PlotProps) {
  const { chart, at, selected, zoom, heightPx = HEIGHT_PX } = props;
  const { preference, shown } = usePreference();
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const show = () => {
    if (plot.current === null) return;
    showZoom(plot.current, chart, zoom);
    showSelection(plot.current, chart, selected);
  };
  const latest = useRef({ ...props, show });
  latest.current = { ...props, show };

  // `shown`: the chart reads its colours from the style sheet when it is created, so a new theme needs a new chart.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const created: uPlot = new uPlot(
      createOptions({
        ...{ chart, heightPx, zone: preference.zone, width: element.clientWidth },
        onPoint: (index) => latest.current.onPoint(index),
        onDrag(left, right) {
          const dragged = { first: created.posToIdx(left), last: created.posToIdx(right) };
          latest.current.onSelect(dragged, { by: 'drag', isShift: created.cursor.event?.shiftKey === true });
          latest.current.show();
        },
      }),
      toData(chart),
      element,
    );
    plot.current = created;
    const resized = new ResizeObserver(() => {
      if (created.width === element.clientWidth) return; // as at its first call: uPlot would draw again
      created.setSize({ width: element.clientWidth, height: heightPx });
      latest.current.show();
    });
    resized.observe(element);
    return () => {
      resized.disconnect();
      created.destroy();
      plot.current = null;
    };
  }, [chart, heightPx, preference.zone, shown]);

  // Not with the cursor: uPlot draws the selection during a drag.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new plot shows nothing yet
  useEffect(show, [chart, heightPx, preference.zone, shown, selected, zoom]);
  useEffect(() => {
    if (plot.current !== null) showCursor(plot.current, chart, at, latest.current.onCursor);
  }, [chart, at]);
  return { host, plot };
}

function showCursor(plot: uPlot, chart: Chart, at: number | null, onCursor: PlotProps['onCursor']): void {
  const span = chart.spans[at ?? -1];
  if (span === undefined) {
    // Outside of the plot there is no cursor. Without the hook: all charts have this place already.
    if (plot.cursor.idx != null) plot.setCursor({ left: -10, top: -10 }, false);
    return;
  }
  const left = plot.valToPos(instantOf(span, chart), 'x');
  if (plot.cursor.idx !== at) plot.setCursor({ left, top: plot.height / 3 }, false);
  onCursor?.(plot.over.offsetLeft + left, plot.width);
}

// Seconds of the axis on each side of a single value; uPlot would show years.
const ALONE_SECONDS = 1800;

function showZoom(plot: uPlot, chart: Chart, zoom: Selection | undefined): void {
  const { spans } = chart;
  const [first, last] = [spans[zoom?.first ?? 0], spans[zoom?.last ?? spans.length - 1]];
  if (first === undefined || last === undefined) return;
  const until = areBars(chart) ? last.until : last.from;
  const pad = until === first.from ? ALONE_SECONDS : 0;
  const [min, max] = [first.from - pad, until + pad];
  const { scales } = plot;
  if (scales['x']?.min !== min || scales['x']?.max !== max) plot.setScale('x', { min, max });
}

// A value of a line is a narrow stripe.
const STRIPE_PX = 3;

function showSelection(plot: uPlot, chart: Chart, selected: Selection | undefined): void {
  const [first, last] = [chart.spans[selected?.first ?? -1], chart.spans[selected?.last ?? -1]];
  if (first === undefined || last === undefined) {
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    return;
  }
  const limit = (left: number) => Math.min(Math.max(left, 0), plot.over.clientWidth);
  const [until, stripe] = areBars(chart) ? [last.until, 0] : [last.from, STRIPE_PX];
  const left = limit(plot.valToPos(first.from, 'x') - stripe);
  const right = limit(plot.valToPos(until, 'x') + stripe);
  plot.setSelect({ left, top: 0, width: right - left, height: plot.over.clientHeight }, false);
}
