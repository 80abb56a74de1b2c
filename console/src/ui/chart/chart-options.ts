import uPlot from 'uplot';
import type { Span } from '../../format/range.ts';
import type { Zone } from '../../format/show.ts';
import { areBars, type Chart, type ChartSeries } from './chart.ts';

// A label such as `20 Nov` and the space beside it.
const TICK_PX = 76;

interface OptionParts {
  readonly chart: Chart;
  readonly zone: Zone;
  readonly width: number;
  readonly heightPx: number;
  /** The pointer, or `setCursor`, is at the value of this index. */
  readonly onPoint: (index: number | null) => void;
  /** A drag ended; places in the plot, in CSS pixels. */
  readonly onDrag: (left: number, right: number) => void;
}

/** Returns uPlot's options of a chart, in the present colours of the style sheet. */
export function createOptions(parts: OptionParts): uPlot.Options {
  const { chart, zone, width, heightPx, onPoint, onDrag } = parts;
  const { series, format, stacked = false, thresholds = [] } = chart;
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const painting = (paint: (plot: uPlot, chart: Chart, color: ColorOf) => void) => (plot: uPlot) => {
    plot.ctx.save();
    paint(plot, chart, color);
    plot.ctx.restore();
  };
  const axis = {
    stroke: color('text-3'),
    font: `11px ${color('font')}`,
    ticks: { show: false },
    grid: { stroke: color('grid'), width: 1 },
  };
  const areWhole = series.every(({ values }) =>
    values.every((value) => value === null || Number.isInteger(value)),
  );
  const bands = areBars(chart)
    ? []
    : stacked
      ? series.slice(1).map((_one, i): uPlot.Band => ({ series: [i + 2, i + 1] }))
      : series.flatMap((one, i): uPlot.Band[] =>
          one.bandTo === undefined
            ? []
            : [{ series: [i + 1, one.bandTo + 1], fill: toAlpha(color(one.color), 0.13) }],
        );
  return {
    width,
    height: heightPx,
    legend: { show: false },
    padding: [8, TICK_PX / 2, 0, 0], // half of the last label is beyond the plot
    ...(zone === 'utc' && { tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') }),
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false, dist: DRAG_PX },
      points: { size: 7, show: !areBars(chart) },
      bind: { dblclick: () => null },
    },
    hooks: {
      setCursor: [(plot) => onPoint(plot.cursor.idx ?? null)],
      setSelect: [({ select }) => onDrag(select.left, select.left + select.width)],
      drawClear: [painting(shade)],
      draw: [painting(hatch), painting(drawLines)],
    },
    scales: { y: { range: (_self, min, max) => rangeOf(min, max, thresholds) } },
    axes: [
      { ...axis, grid: { show: false }, size: 44, space: TICK_PX, values: TIMES },
      {
        ...axis,
        size: AXIS_PX,
        space: Math.min(40, heightPx / 4),
        ...(areWhole && { incrs: WHOLE_STEPS }),
        values: (_self, values) => values.map((value) => format(value)),
      },
    ],
    bands,
    series: [
      {},
      ...series.map((one, i) => toSeries(one, color, stacked ? undefined : 1 - i / series.length)),
    ],
  };
}

const DAY = '{D} {MMM}';
/** Labels by the least distance of ticks, with a second line where a year or a day begins (uPlot, "Axis & Ticks"). */
const TIMES = [
  [365 * 86_400, '{YYYY}', null, null, null, null, null, null, 1],
  [28 * 86_400, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [86_400, DAY, '\n{YYYY}', null, null, null, null, null, 1],
  [60, '{HH}:{mm}', `\n${DAY} {YYYY}`, null, `\n${DAY}`, null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', `\n${DAY} {YYYY}`, null, `\n${DAY}`, null, null, null, 1],
];

const AXIS_PX = 64;
const DRAG_PX = 6;

/** Counts are whole, and so are the labels of their axis. */
const POWERS = Array.from({ length: 12 }, (_, i) => 10 ** i);
const WHOLE_STEPS = [1, 2, 5].flatMap((n) => POWERS.map((power) => n * power)).toSorted((a, b) => a - b);

/** From zero, and up to a threshold that is near the values: a distant one would flatten them. */
function rangeOf(min: number, max: number, thresholds: NonNullable<Chart['thresholds']>): [number, number] {
  const near = thresholds.map(({ value }) => value).filter((value) => value <= max * 2);
  const top = Math.max(max, ...near);
  return [min < 0 ? min * 1.08 : 0, top > 0 ? top * 1.08 : 1];
}

function drawLines(
  { ctx, bbox, valToPos }: uPlot,
  { thresholds = [], instants = [] }: Chart,
  color: ColorOf,
): void {
  const [left, top] = [bbox.left, bbox.top];
  const [right, bottom] = [left + bbox.width, top + bbox.height];
  const draw = (stroke: string, [x1, y1, x2, y2]: readonly [number, number, number, number]) => {
    if (x1 < left || x2 > right || y1 < top || y2 > bottom) return;
    ctx.beginPath();
    ctx.strokeStyle = stroke;
    ctx.moveTo(x1, y1);
    ctx.lineTo(x2, y2);
    ctx.stroke();
  };
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.lineWidth = 1.5 * devicePixelRatio;
  for (const threshold of thresholds) {
    const y = valToPos(threshold.value, 'y', true);
    draw(color(threshold.color), [left, y, right, y]);
  }
  for (const instant of instants) {
    const x = valToPos(instant, 'x', true);
    draw(color('data-4'), [x, top, x, bottom]);
  }
}

function shade(plot: uPlot, { shades = [] }: Chart, color: ColorOf): void {
  for (const one of shades) {
    const area = areaOf(plot, one);
    if (area === undefined) continue;
    plot.ctx.fillStyle = color(one.color);
    plot.ctx.fillRect(...area);
  }
}

/** Where a stretch of time is drawn; undefined: outside of the plot. */
function areaOf(
  { bbox, valToPos }: uPlot,
  { from, until }: Span,
): [left: number, top: number, width: number, height: number] | undefined {
  const left = Math.max(valToPos(from, 'x', true), bbox.left);
  const right = Math.min(valToPos(until, 'x', true), bbox.left + bbox.width);
  return right <= left ? undefined : [left, bbox.top, right - left, bbox.height];
}

const BAR_SHARE = 0.86;
const BAR_WIDTH_PX_MAX = 120;

/** @param share of the width, of bars that are not stacked */
function toSeries(
  { label, color: name, alpha = 1, kind = 'area', values }: ChartSeries,
  color: ColorOf,
  share: number | undefined,
): uPlot.Series {
  // Mixed with the ground instead of translucent: bars lie on one another.
  const stroke = alpha < 1 ? mix(color(name), alpha, color('surface')) : color(name);
  const fill = toAlpha(stroke, share === undefined ? 0.45 : 0.16);
  // Opaque: each is drawn over the one before, which is higher if they are stacked, else wider.
  const size: [number, number] = [BAR_SHARE * (share ?? 1), BAR_WIDTH_PX_MAX * (share ?? 1)];
  const bars = kind === 'bar' ? uPlot.paths.bars?.({ size }) : undefined;
  return {
    label,
    stroke: kind === 'range' ? toAlpha(stroke, 0.45) : stroke,
    width: kind === 'range' ? 1 : 1.75,
    ...(kind === 'dashed' && { dash: [5, 4] }),
    ...(kind === 'area' && { fill }),
    ...(bars && { fill: stroke, width: 0, paths: bars }),
    // A value between two gaps is not on a line, so it gets a point.
    points: { size: 4, fill: stroke, show: kind !== 'bar' && (values.length < 3 || values.includes(null)) },
  };
}

/** Where the value of a span stands on the axis of time: in the middle of its bar, or at its start. */
export function instantOf({ from, until }: Span, chart: Chart): number {
  return areBars(chart) ? (from + until) / 2 : from;
}

/** The values of the series, one above the other if they are stacked. */
export function toData(chart: Chart): uPlot.AlignedData {
  const { spans, series, stacked = false } = chart;
  const times = spans.map((span) => instantOf(span, chart));
  if (!stacked) return [times, ...series.map(({ values }) => [...values])];
  const sums = spans.map(() => 0);
  const add = ({ values }: ChartSeries) =>
    values.map((value, i) => {
      sums[i] = (sums[i] ?? 0) + (value ?? 0);
      return sums[i] ?? 0;
    });
  // Bars begin at zero: the highest is drawn first.
  return [times, ...(areBars(chart) ? series.toReversed().map(add).toReversed() : series.map(add))];
}

const HATCH_PX = 6;

/** Fades and hatches each partial value, of lines the way to it: its fall or rise says little. */
function hatch(plot: uPlot, chart: Chart, color: ColorOf): void {
  const { ctx } = plot;
  const { spans, partial } = chart;
  for (const index of partial.keys()) {
    const [span, beside] = [spans[index], spans[index === 0 ? 1 : index - 1]];
    if (span === undefined) continue;
    const ends = areBars(chart) ? [span.from, span.until] : [span.from, (beside ?? span).from];
    const area = areaOf(plot, { from: Math.min(...ends), until: Math.max(...ends) });
    if (area === undefined) continue;
    const [left, top, width, height] = area;
    ctx.save();
    ctx.beginPath();
    ctx.rect(...area);
    ctx.clip();
    ctx.fillStyle = toAlpha(color('surface'), 0.55);
    ctx.fillRect(...area);
    ctx.beginPath();
    for (let x = left - height; x < left + width; x += HATCH_PX * devicePixelRatio) {
      ctx.moveTo(x, top + height);
      ctx.lineTo(x + height, top);
    }
    ctx.lineWidth = devicePixelRatio;
    ctx.strokeStyle = toAlpha(color('text-3'), 0.4);
    ctx.stroke();
    ctx.restore();
  }
}

type ColorOf = (name: string) => string;

function toAlpha(color: string, alpha: number): string {
  return mix(color, alpha, 'transparent');
}

function mix(color: string, share: number, other: string): string {
  return `color-mix(in srgb, ${color} ${share * 100}%, ${other})`;
}
