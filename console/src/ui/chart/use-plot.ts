import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { offsetOf, type Span } from '../../format/time-axis.ts';
import { usePreference } from '../../preference.ts';
import type { Chart, Selection } from './chart.ts';
import { createOptions, HEIGHT_PX, toData } from './chart-options.ts';

export interface PlotProps {
  readonly chart: Chart;
  /** Place of the span that the cursor is at. */
  readonly at: number | null;
  readonly onPoint: (at: number | null) => void;
  readonly selected: Selection | undefined;
  /** @param opens whether the focus goes to what the selection offers */
  readonly onSelect: (selected: Selection | undefined, opens: boolean) => void;
  readonly zoom: Selection | undefined;
  readonly heightPx?: number | undefined;
}

/** Keeps a uPlot in `host` as the properties say. */
export function usePlot(props: PlotProps) {
  const { chart, at, onPoint, selected, onSelect, zoom, heightPx = HEIGHT_PX } = props;
  const { preference, shown } = usePreference();
  const host = useRef<HTMLDivElement>(null);
  const tag = useRef<HTMLSpanElement>(null);
  const plot = useRef<uPlot>(null);
  const latest = useRef({ onPoint, onSelect, show: () => {} });
  const { spans, stacked = false } = chart;

  const show = () => {
    if (plot.current === null) return;
    showZoom(plot.current, chart, zoom);
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
        heightPx,
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
  if (plot.data[0][plot.cursor.idx ?? -1] !== span.from)
    plot.setCursor({ left, top: plot.height / 3 }, false);
  if (tag === null) return;
  const center = plot.over.offsetLeft + left;
  const most = plot.width - tag.offsetWidth;
  tag.style.left = `${Math.max(0, Math.min(center - tag.offsetWidth / 2, most))}px`;
}

// Seconds of the axis on each side of a single value; uPlot would show years.
const ALONE_SECONDS = 1800;

function showZoom(plot: uPlot, { spans, series }: Chart, zoom: Selection | undefined): void {
  const [first, last] = [spans[zoom?.first ?? 0], spans[zoom?.last ?? spans.length - 1]];
  if (first === undefined || last === undefined) return;
  // A bar is around its time.
  const half = series.some(({ kind }) => kind === 'bar') ? (last.until - last.from) / 2 : 0;
  const pad = first === last ? Math.max(ALONE_SECONDS, half) : half;
  const [min, max] = [first.from - pad, last.from + pad];
  const { scales } = plot;
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
