import uPlot from 'uplot';
import { formatShort } from '../../../format/number.ts';
import { findTicks, labelTicks, type OffsetAt } from '../../../format/time-axis.ts';
import type { Bars } from './series.ts';

export const HEIGHT_PX = 116;

interface BarOptionParts {
  readonly bars: Bars;
  readonly widthMs: number;
  readonly countedBackToMs: number;
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
  const { bars, widthMs, offsetAt, widthPx, onPoint, onZoom } = parts;
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const axis = { stroke: color('text-3'), font: `11px ${color('font')}`, ticks: { show: false } };
  const [first = 0] = bars.starts;
  const end = first + bars.starts.length * widthMs;
  const bucketAt = (self: uPlot, px: number) =>
    Math.min(
      bars.starts.length - 1,
      Math.max(0, Math.floor((self.posToVal(px, 'x') * 1000 - first) / widthMs)),
    );
  const ticksOf = (plot: uPlot) =>
    findTicks(first / 1000, end / 1000, { max: Math.floor(plot.width / TICK_PX), offsetAt });
  return {
    width: widthPx,
    height: HEIGHT_PX,
    legend: { show: false },
    padding: [6, 14, 0, 0],
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false, dist: DRAG_PX },
      points: { show: false },
      bind: { dblclick: () => null },
    },
    hooks: {
      drawClear: [(self) => shadeUncounted(self, parts, color('sunken'))],
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
    },
    scales: {
      x: { range: () => [first / 1000, end / 1000] },
      y: { range: (_self, _min, max) => [0, max > 0 ? max * 1.05 : 1] },
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
        incrs: [1, 2, 5].flatMap((n) => POWERS.map((power) => n * power)).toSorted((a, b) => a - b),
        values: (_self, values) => values.map(formatShort),
      },
    ],
    series: [{}, ...drawn(bars).map((one) => toSeries(one, bars.partial, color))],
  };
}

/** Counts are whole. */
const POWERS = Array.from({ length: 12 }, (_, i) => 10 ** i);

function shadeUncounted(self: uPlot, { bars, countedBackToMs }: BarOptionParts, fill: string): void {
  const [first = 0] = bars.starts;
  if (!(countedBackToMs > first)) return;
  const { ctx, bbox } = self;
  const right = Math.min(bbox.left + bbox.width, self.valToPos(countedBackToMs / 1000, 'x', true));
  ctx.save();
  ctx.fillStyle = fill;
  ctx.fillRect(bbox.left, bbox.top, right - bbox.left, bbox.height);
  ctx.restore();
}

/** uPlot draws from the first: the whole bar, then over it what is below. */
function drawn({ series }: Bars) {
  return series.toReversed();
}

/** Starts and, for each series, the counts up to its upper edge. */
export function stack(bars: Bars): uPlot.AlignedData {
  const sums = bars.starts.map(() => 0);
  const tops = bars.series.map(({ counts }) =>
    counts.map((count, i) => {
      sums[i] = (sums[i] ?? 0) + count;
      return sums[i] ?? 0;
    }),
  );
  return [bars.starts.map((ms) => ms / 1000), ...tops.toReversed()];
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
