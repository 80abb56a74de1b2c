import uPlot from 'uplot';
import { formatShort } from '../../../format/number.ts';
import { findTicks, labelTicks, type OffsetAt } from '../../../format/time-axis.ts';
import type { BarSeries, Bars } from './series.ts';

export const HEIGHT_PX = 116;

/** What is drawn beside the bars. */
export interface ChartExtras {
  /** A range that is compared with the rest, ms since the epoch. */
  readonly mark: { readonly fromMs: number; readonly untilMs: number } | undefined;
  /** Instants of deployments, ms since the epoch. */
  readonly deploys: readonly number[];
}

interface BarOptionParts {
  readonly bars: Bars;
  readonly widthMs: number;
  readonly countedBackToMs: number;
  readonly extras: ChartExtras;
  readonly offsetAt: OffsetAt;
  readonly widthPx: number;
  readonly onPoint: (at: number | undefined) => void;
  readonly onZoom: (fromMs: number, untilMs: number) => void;
}

// A time bucket of which only a part is counted is drawn fainter.
const PARTIAL_ALPHA = 0.45;
const BAR_SHARE = 0.86;
const DRAG_PX = 6;
// A label such as `20 Nov` and the space beside it.
const TICK_PX = 84;

export function createBarOptions(parts: BarOptionParts): uPlot.Options {
  const { bars, widthMs, offsetAt, widthPx } = parts;
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const axis = { stroke: color('text-3'), font: `11px ${color('font')}`, ticks: { show: false } };
  const [first = 0] = bars.starts;
  const end = first + bars.starts.length * widthMs;
  const ticksOf = (plot: uPlot) =>
    findTicks(first / 1000, end / 1000, { max: Math.floor(plot.width / TICK_PX), offsetAt });
  return {
    width: widthPx,
    height: HEIGHT_PX,
    legend: { show: false },
    padding: [6, TICK_PX / 2, 0, 0], // as of charts of an endpoint
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false, dist: DRAG_PX },
      points: { show: false },
      bind: { dblclick: () => null },
    },
    hooks: createHooks(parts, color),
    scales: {
      x: { range: () => [first / 1000, end / 1000] },
      y: { range: (_self, min, max) => [Math.min(0, min), max > 0 ? max * 1.05 : 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 34,
        splits: (plot) => [...ticksOf(plot).times],
        values: (plot, times) => labelTicks({ ...ticksOf(plot), times }, offsetAt),
      },
      {
        ...axis,
        grid: { stroke: color('grid'), width: 1 },
        size: 52,
        space: 28,
        ...(!bars.areLines && { incrs: WHOLE_STEPS }),
        values: (_self, values) => values.map(formatShort),
      },
    ],
    series: [{}, ...createDrawings(parts, color)],
  };
}

type ColorOf = (name: string) => string;

/** uPlot draws from the first: the whole bar, then over it what is below. */
function createDrawings({ bars }: BarOptionParts, color: ColorOf): uPlot.Series[] {
  return bars.series
    .toReversed()
    .map((one) =>
      bars.areLines ? toLine(one.label, mixed(one, color)) : toSeries(one, bars.partial, color),
    );
}

function createHooks(parts: BarOptionParts, color: ColorOf): uPlot.Hooks.Arrays {
  const { bars, widthMs, onPoint, onZoom } = parts;
  const [first = 0] = bars.starts;
  const bucketAt = (self: uPlot, px: number) =>
    Math.min(
      bars.starts.length - 1,
      Math.max(0, Math.floor((self.posToVal(px, 'x') * 1000 - first) / widthMs)),
    );
  return {
    drawClear: [(self) => shadeBehind(self, parts, color)],
    draw: [(self) => drawDeploys(self, parts.extras, color('data-4'))],
    setCursor: [
      (self) => {
        const { left = -1 } = self.cursor;
        onPoint(left < 0 ? undefined : bucketAt(self, left));
      },
    ],
    setSelect: [
      (self) => {
        const { left, width } = self.select;
        self.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        if (width < DRAG_PX) return;
        const [a, b] = [bucketAt(self, left), bucketAt(self, left + width - 1)];
        onZoom(first + a * widthMs, first + (b + 1) * widthMs);
      },
    ],
  };
}

/** Counts are whole. */
const POWERS = Array.from({ length: 12 }, (_, i) => 10 ** i);
const WHOLE_STEPS = [1, 2, 5].flatMap((n) => POWERS.map((power) => n * power)).toSorted((a, b) => a - b);

function shadeBehind(self: uPlot, parts: BarOptionParts, color: (name: string) => string): void {
  const { bars, countedBackToMs, extras } = parts;
  const [first = 0] = bars.starts;
  if (countedBackToMs > first) shade(self, [first, countedBackToMs], color('sunken'));
  if (extras.mark !== undefined) {
    const { fromMs, untilMs } = extras.mark;
    shade(self, [fromMs, untilMs], `color-mix(in srgb, ${color('accent')} 22%, ${color('surface')})`);
  }
}

function shade(self: uPlot, [fromMs, untilMs]: readonly [number, number], fill: string): void {
  const { ctx, bbox } = self;
  const end = bbox.left + bbox.width;
  const within = (ms: number) => Math.max(bbox.left, Math.min(end, self.valToPos(ms / 1000, 'x', true)));
  const [left, right] = [within(fromMs), within(untilMs)];
  ctx.save();
  ctx.fillStyle = fill;
  ctx.fillRect(left, bbox.top, right - left, bbox.height);
  ctx.restore();
}

function drawDeploys(self: uPlot, { deploys }: ChartExtras, stroke: string): void {
  const { ctx, bbox } = self;
  ctx.save();
  ctx.strokeStyle = stroke;
  ctx.lineWidth = 2;
  ctx.setLineDash([4, 4]);
  for (const ms of deploys) {
    const x = self.valToPos(ms / 1000, 'x', true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

/** Starts, then for each series the counts up to its upper edge. */
export function stack(bars: Bars): uPlot.AlignedData {
  const sums = bars.starts.map(() => 0);
  const tops = bars.series.map(({ counts }) =>
    counts.map((count, i) => {
      if (bars.areLines) return count;
      sums[i] = (sums[i] ?? 0) + (count ?? 0);
      return sums[i] ?? 0;
    }),
  );
  return [bars.starts.map((ms) => ms / 1000), ...tops.toReversed()];
}

function mixed({ color: name, alpha }: BarSeries, color: (name: string) => string): string {
  return `color-mix(in srgb, ${color(name)} ${alpha * 100}%, ${color('surface')})`;
}

/** Steps as wide as the bars. */
function toLine(label: string, stroke: string): uPlot.Series {
  const { stepped } = uPlot.paths;
  return {
    label,
    stroke,
    width: 2,
    points: { show: false },
    ...(stepped !== undefined && { paths: stepped({ align: 1 }) }),
  };
}

function toSeries(
  { label, color: name, alpha }: Bars['series'][number],
  partial: readonly boolean[],
  color: (name: string) => string,
): uPlot.Series {
  // Mixed with the ground instead of translucent: bars lie on one another.
  const mix = (share: number) => `color-mix(in srgb, ${color(name)} ${share * 100}%, ${color('surface')})`;
  const fills = partial.map((isPartial) => mix(isPartial ? alpha * PARTIAL_ALPHA : alpha));
  const { bars } = uPlot.paths;
  return {
    label,
    width: 0,
    fill: mix(alpha),
    points: { show: false },
    ...(bars !== undefined && {
      paths: bars({
        align: 1,
        size: [BAR_SHARE, Number.POSITIVE_INFINITY],
        disp: { fill: { unit: 3, values: () => fills } },
      }),
    }),
  };
}
