import { useMemo } from 'react';
import { type Row, toAnswer } from '../../../api/answer.ts';
import type { Client } from '../../../api/client.ts';
import { ownMember } from '../../../format/values.ts';
import type { ChartSeries, DataColor } from '../../../ui/chart/chart.ts';
import { type ExploreAddress, isAdditive } from '../address.ts';
import { hasOlder, type ReadOptions, type Sliced, useSlices } from '../lines/use-work.tsx';
import {
  ceilTo,
  floorTo,
  hasSameEvents,
  planCounts,
  planSlices,
  type Search,
  searchPath,
} from '../search.ts';

/** Events of one time bucket that have one value. */
interface BucketCount {
  /** ms since the epoch. */
  readonly startMs: number;
  /** Undefined: all others. */
  readonly value: string | null | undefined;
  readonly count: number;
  /** What the chart shows of them; the count if undefined. */
  readonly amount?: number;
}

export type Chart = Pick<ExploreAddress, 'by' | 'measure' | 'top'>;

interface Counted extends Sliced {
  readonly chart: Chart;
  readonly counts: readonly BucketCount[];
}

export type Histogram = ReturnType<typeof useHistogram>;

/** Counts the events of a search in time buckets, slice by slice. @param isReady false: it waits, for the lines come first */
export function useHistogram(search: Search, chart: Chart, isReady: boolean) {
  const empty: Counted = useMemo(
    () => ({ search, chart, counts: [], slices: planSlices(search), slicesRead: 0 }),
    [search, chart],
  );
  const { state, stop, read: counted, readOn } = useSlices(empty, { isReady, readOlder: countOlder });
  const isOld = counted.search !== search || counted.chart !== chart;
  // Earlier counts stay while the same events are counted again; for other events they would mislead.
  const shown =
    isOld && !(counted.chart === chart && hasSameEvents(counted.search, search)) ? empty : counted;
  return {
    ...shown,
    ...{ state, stop },
    /** Whether the counts are earlier ones, which stay until there are new ones. */
    isOld,
    resume: () => readOn(isOld ? empty : counted),
  };
}

/** @throws ApiError */
async function countOlder(from: Counted, { client, signal, onRead }: ReadOptions<Counted>): Promise<void> {
  for (let counted = from; hasOlder(counted); onRead(counted))
    counted = await countSlice(client, counted, signal);
}

async function countSlice(client: Client, counted: Counted, signal: AbortSignal): Promise<Counted> {
  const { search, chart, slices, slicesRead } = counted;
  const { widthMs, offsetMs } = search;
  const { by, measure, top } = chart;
  // Values that cannot be added need the rest as one series of the service.
  const shown = String(top ?? (isAdditive(measure) ? '' : TOP_DEFAULT));
  const found: BucketCount[] = [];
  const slice = slices[slicesRead];
  if (slice === undefined) return counted;
  for (const count of planCounts(slice, search)) {
    const more = { part: 'histogram', by, measure, top: shown, buckets: String(count.buckets) };
    const path = searchPath(search, count, more);
    const { rows } = toAnswer(await client.callRaw(path, { signal }));
    for (const row of rows) {
      found.push({
        startMs: floorTo(Number(row['timestamp']) / 1000, widthMs, offsetMs),
        value: seriesOf(row, by),
        count: Number(row['count']),
        ...('value' in row && measure !== '' && { amount: Number(row['value']) }),
      });
    }
  }
  return { ...counted, counts: [...counted.counts, ...found], slicesRead: slicesRead + 1 };
}

const TOP_DEFAULT = 8;
/** The service's name of the rest, unless `top` is asked for. */
const OTHER = '(other)';

/** The value of a series; undefined for all others together. */
function seriesOf(row: Row, by: string): string | null | undefined {
  const value = ownMember(row, by) ?? null;
  if (row['other'] === true || value === OTHER) return undefined;
  return value === null ? null : String(value);
}

/** One value of the field that the histogram is by. */
export interface BarSeries extends ChartSeries {
  /** Undefined: all other values together. */
  readonly value: string | null | undefined;
  readonly alpha: number;
  /** Undefined if its values cannot be added. */
  readonly total: number | undefined;
}

export type Bars = ReturnType<typeof toBars>;

const SERIES_MAX = 8;

/** The time buckets of a search with their counts, those without events among them. */
export function toBars(counts: readonly BucketCount[], search: Search, chart: Chart) {
  const { by, measure, top = SERIES_MAX } = chart;
  const areLines = !isAdditive(measure);
  const { fromMs, untilMs, nowMs, widthMs, offsetMs } = search;
  const first = floorTo(fromMs, widthMs, offsetMs);
  const length = Math.max(0, Math.round((ceilTo(untilMs, widthMs, offsetMs) - first) / widthMs)) || 0;
  const starts = Array.from({ length }, (_, i) => first + i * widthMs);
  const end = Math.min(untilMs, nowMs);
  /** The counts that are not of all their time: it is not over, or the range cuts it. */
  const partial = new Map<number, 'so far' | 'partial'>();
  for (const [place, start] of starts.entries()) {
    const isCut = start < fromMs || (start < end && start + widthMs > end);
    if (isCut) partial.set(place, start + widthMs > nowMs ? 'so far' : 'partial');
  }
  const ranked = [...Map.groupBy(counts, ({ value }) => value)]
    .map(([value, of]) => ({ value, total: sum(of.map(({ count }) => count)) }))
    .filter(({ value }) => value !== undefined)
    .toSorted((a, b) => b.total - a.total || String(a.value).localeCompare(String(b.value)));
  const kept = ranked.slice(0, top).map(({ value }) => value);
  const groups = Map.groupBy(counts, ({ value }) => (kept.includes(value) ? value : undefined));
  const createSeries = (value: Value, before: readonly Value[]): BarSeries => {
    const values: (number | null)[] = starts.map(() => (areLines ? null : 0));
    for (const { startMs, count, amount = count } of groups.get(value) ?? []) {
      const i = Math.round((startMs - first) / widthMs);
      values[i] = (values[i] ?? 0) + amount;
    }
    const [color, alpha] = colorOf(value, by, before);
    const label = value === undefined ? 'other values' : value === null ? `no ${by}` : value || '(empty)';
    const total = areLines ? undefined : sum(values.map((count) => count ?? 0));
    return { value, label, color, alpha, kind: areLines ? 'line' : 'bar', values, total };
  };
  const shown = arrange(kept, by);
  const series = shown.map((value, i) => createSeries(value, shown.slice(0, i)));
  const others = createSeries(undefined, []);
  return {
    /** Starts of time buckets, ms since the epoch. */
    starts,
    spans: starts.map((start) => ({ from: start / 1000, until: (start + widthMs) / 1000 })),
    partial,
    /** Whether series are drawn as lines beside each other, since their values cannot be added. */
    areLines,
    /** From the bottom of a bar up. */
    series: others.values.some((count) => (count ?? 0) !== 0) ? [...series, others] : series,
    total: sum(counts.map(({ count }) => count)),
  };
}

/** The worst at the bottom, where heights compare best; else the most frequent. */
function arrange(values: readonly Value[], by: string) {
  if (by !== 'level') return values;
  const rank = (value: Value) => Object.keys(LEVEL_COLORS).indexOf(value ?? '');
  return values.toSorted((a, b) => (rank(a) + 1 || 99) - (rank(b) + 1 || 99));
}

const LEVEL_COLORS: Readonly<Record<string, readonly [color: DataColor, alpha: number]>> = {
  fatal: ['data-4', 1],
  error: ['data-bad', 1],
  warn: ['data-3', 1],
  info: ['data-1', 1],
  debug: ['data-2', 0.7],
  trace: ['border-control', 0.8],
};
const STATUS_COLORS: readonly DataColor[] = ['data-2', 'data-1', 'data-2', 'data-3', 'data-bad'];
const STATUS_ALPHAS = [1, 0.65, 0.4, 0.25];
const COLORS: readonly DataColor[] = ['data-1', 'data-2', 'data-3', 'data-4'];

type Value = string | null | undefined;

/** Codes of one class of statuses are shades of one colour. @param before the values of the series below */
function colorOf(value: Value, by: string, before: readonly Value[]): readonly [DataColor, number] {
  if (value === undefined || value === null) return ['border-control', 0.5];
  const ofLevel = by === 'level' ? ownMember(LEVEL_COLORS, value) : undefined;
  if (ofLevel !== undefined) return ofLevel;
  const status = classOf(value);
  if (status !== undefined) {
    const shade = before.filter((one) => classOf(one) === status).length;
    return [STATUS_COLORS[status - 1] ?? 'data-1', STATUS_ALPHAS[shade % STATUS_ALPHAS.length] ?? 1];
  }
  const i = before.length;
  return [COLORS[i % COLORS.length] ?? 'data-1', i < COLORS.length ? 1 : 0.5];
}

/** 4 for `404`. */
function classOf(value: Value): number | undefined {
  const digit = /^([1-5])\d\d$/.exec(value ?? '')?.[1];
  return digit === undefined ? undefined : Number(digit);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
