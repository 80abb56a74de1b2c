import uPlot from 'uplot';
import { findTicks, labelTicks, type OffsetAt } from '../../format/time-axis.ts';
import type { Chart, ChartSeries } from './chart.ts';

export const HEIGHT_PX = 220;
// A label such as `20 Nov` and the space beside it.
const TICK_PX = 76;

interface OptionParts extends Pick<Chart, 'spans' | 'partial' | 'series' | 'format' | 'thresholds'> {
  readonly stacked: boolean;
  readonly offsetAt: OffsetAt;
  readonly width: number;
  readonly heightPx: number;
  /** The pointer, or `setCursor`, is at the value of this index. */
  readonly onPoint: (index: number | null) => void;
  /** A drag ended; places in the plot, in CSS pixels. */
  readonly onDrag: (left: number, right: number) => void;
}

/** Returns uPlot's options of a chart, in the present colours of the style sheet. */
export function createOptions(parts: OptionParts): uPlot.Options {
  const { series, format, stacked, offsetAt, width, heightPx, onPoint, onDrag } = parts;
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const axis = {
    stroke: color('text-3'),
    font: `11px ${color('font')}`,
    ticks: { show: false },
    grid: { stroke: color('grid'), width: 1 },
  };
  const areBars = series.some(({ kind }) => kind === 'bar');
  const bands = areBars
    ? []
    : stacked
      ? series.slice(1).map((_one, i): uPlot.Band => ({ series: [i + 2, i + 1] }))
      : series.flatMap((one, i): uPlot.Band[] =>
          one.bandTo === undefined
            ? []
            : [{ series: [i + 1, one.bandTo + 1], fill: toAlpha(color(one.color), 0.13) }],
        );
  const ticksOf = (plot: uPlot, from: number, until: number) =>
    findTicks(from, until, { max: Math.floor((plot.width - AXIS_PX) / TICK_PX), offsetAt });
  return {
    width,
    height: heightPx,
    legend: { show: false },
    padding: [8, TICK_PX / 2, 0, 0], // half of the last label is beyond the plot
    cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { size: 7 } },
    hooks: {
      setCursor: [(plot) => onPoint(plot.cursor.idx ?? null)],
      setSelect: [({ select }) => onDrag(select.left, select.left + select.width)],
      draw: [
        (plot) => hatch(plot, parts, color),
        (plot) => drawThresholds(plot, parts.thresholds ?? [], color),
      ],
    },
    scales: {
      y: { range: (_self, min, max) => rangeOf(min, max, parts.thresholds ?? []) },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 44,
        splits: (plot, _axis, from, until) => [...ticksOf(plot, from, until).times],
        values: (plot, times) => {
          const { min = 0, max = 0 } = plot.scales['x'] ?? {};
          return labelTicks({ ...ticksOf(plot, min, max), times }, offsetAt);
        },
      },
      { ...axis, size: AXIS_PX, space: 40, values: (_self, values) => values.map((value) => format(value)) },
    ],
    bands,
    series: [
      {},
      ...series.map((one, i) => toSeries(one, color, stacked ? undefined : 1 - i / series.length)),
    ],
  };
}

const AXIS_PX = 64;

/** From zero, and up to a threshold that is near the values: a distant one would flatten them. */
function rangeOf(min: number, max: number, thresholds: NonNullable<Chart['thresholds']>): [number, number] {
  const near = thresholds.map(({ value }) => value).filter((value) => value <= max * 2);
  const top = Math.max(max, ...near);
  return [min < 0 ? min * 1.08 : 0, top > 0 ? top * 1.08 : 1];
}

function drawThresholds(
  { ctx, bbox, valToPos }: uPlot,
  thresholds: NonNullable<Chart['thresholds']>,
  color: (name: string) => string,
): void {
  for (const threshold of thresholds) {
    const y = valToPos(threshold.value, 'y', true);
    if (y < bbox.top || y > bbox.top + bbox.height) continue;
    ctx.save();
    ctx.beginPath();
    ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.strokeStyle = color(threshold.color);
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.restore();
  }
}

/** @param share of the width, of bars that are not stacked */
function toSeries(
  { label, color: name, kind = 'area', values }: ChartSeries,
  color: (name: string) => string,
  share: number | undefined,
): uPlot.Series {
  const stroke = color(name);
  const fill = toAlpha(stroke, share === undefined ? 0.45 : 0.16);
  return {
    label,
    stroke: kind === 'range' || kind === 'wide' ? toAlpha(stroke, 0.45) : stroke,
    width: kind === 'range' ? 1 : kind === 'wide' ? 5 : 1.75,
    ...(kind === 'dashed' && { dash: [5, 4] }),
    ...(kind === 'area' && { fill }),
    ...(kind === 'bar' && uPlot.paths.bars && BARS({ fill: stroke, share }, uPlot.paths.bars)),
    // A value between two gaps is not on a line, so it gets a point.
    points: { size: 4, fill: stroke, show: kind !== 'bar' && (values.length < 3 || values.includes(null)) },
  };
}

const BAR_WIDTH_PX_MAX = 48;

/** Opaque: of stacked bars each is drawn over the one before, which is higher; of others over the one before, which is wider. */
const BARS = (
  { fill, share = 1 }: { readonly fill: string; readonly share: number | undefined },
  bars: NonNullable<uPlot.Series.BarsPathBuilderFactory>,
) => ({ fill, width: 0, paths: bars({ size: [0.8 * share, BAR_WIDTH_PX_MAX * share] }) });

/** The values of the series, one above the other if they are stacked. */
export function toData({ spans, series }: Chart, stacked: boolean): uPlot.AlignedData {
  const times = spans.map(({ from }) => from);
  if (!stacked) return [times, ...series.map(({ values }) => [...values])];
  const sums = spans.map(() => 0);
  const add = ({ values }: ChartSeries) =>
    values.map((value, i) => {
      sums[i] = (sums[i] ?? 0) + (value ?? 0);
      return sums[i] ?? 0;
    });
  // Bars begin at zero: the highest is drawn first.
  const areBars = series.some(({ kind }) => kind === 'bar');
  return [times, ...(areBars ? series.toReversed().map(add).toReversed() : series.map(add))];
}

const HATCH_PX = 6;

/** Fades and hatches the way to each partial value: its fall or rise says little. */
function hatch(
  { ctx, bbox, valToPos }: uPlot,
  { spans, partial, series }: Pick<OptionParts, 'spans' | 'partial' | 'series'>,
  color: (name: string) => string,
): void {
  const ratio = devicePixelRatio;
  const areBars = series.some(({ kind }) => kind === 'bar');
  for (const index of partial.keys()) {
    const hatched = findHatched(spans, index, areBars);
    if (hatched === undefined) continue;
    const [from, until] = hatched.map((seconds) => valToPos(seconds, 'x', true)).sort((a, b) => a - b);
    const left = Math.max(from ?? 0, bbox.left);
    const right = Math.min(until ?? 0, bbox.left + bbox.width);
    if (right <= left) continue;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, bbox.top, right - left, bbox.height);
    ctx.clip();
    ctx.fillStyle = toAlpha(color('surface'), 0.55);
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
    ctx.beginPath();
    for (let x = left - bbox.height; x < right; x += HATCH_PX * ratio) {
      ctx.moveTo(x, bbox.top + bbox.height);
      ctx.lineTo(x + bbox.height, bbox.top);
    }
    ctx.lineWidth = ratio;
    ctx.strokeStyle = toAlpha(color('text-3'), 0.4);
    ctx.stroke();
    ctx.restore();
  }
}

/** Where a partial value is drawn, in seconds: a bar is around its time, a line comes from the value beside it. */
function findHatched(
  spans: OptionParts['spans'],
  index: number,
  areBars: boolean,
): readonly number[] | undefined {
  const span = spans[index];
  const beside = areBars ? span : spans[index === 0 ? 1 : index - 1];
  if (span === undefined || beside === undefined) return undefined;
  const half = areBars ? (span.until - span.from) / 2 : 0;
  return [beside.from - half, span.from + half];
}

function toAlpha(color: string, alpha: number): string {
  return `color-mix(in srgb, ${color} ${alpha * 100}%, transparent)`;
}
