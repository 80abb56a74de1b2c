import type { Row } from '../../api/answer.ts';
import { formatMs, formatShort } from '../../format/number.ts';
import { ownMember } from '../../format/own.ts';
import type { Span } from '../../format/time-axis.ts';
import type { Chart, ChartSeries, DataColor } from '../../ui/chart/chart.ts';
import { type AnswerRange, findPartial } from './answer-range.ts';

type Columns = readonly {
  readonly name: string;
  readonly type: string;
  readonly description?: string;
  /** Finds the events that the column is about. */
  readonly search?: string | null;
}[];

const LOG_COLUMNS = ['id', 'timestamp', 'event_message', 'metadata'];

/** Whether rows are log entries, which are listed rather than drawn. */
export function isLog(columns: Columns): boolean {
  return LOG_COLUMNS.every((name) => columns.some((column) => column.name === name));
}

/** Whether there is something to draw: a time and a number. */
export function isDrawable(columns: Columns): boolean {
  return !isLog(columns) && findTime(columns) !== undefined && numbersOf(columns).length > 0;
}

/** Whether each time has one row. Of several, such as one per path, a chart would only draw the last. */
export function hasOneRowPerTime(columns: Columns, rows: readonly Row[]): boolean {
  const time = findTime(columns);
  return time !== undefined && new Set(rows.map((row) => row[time])).size === rows.length;
}

function findTime(columns: Columns): string | undefined {
  return columns.find(({ name, type }) => name === 'timestamp' && (type === 'integer' || type === 'string'))
    ?.name;
}

function numbersOf(columns: Columns): Columns {
  return columns.filter(
    ({ name, type }) => name !== 'timestamp' && (type === 'integer' || type === 'number'),
  );
}

/** Seconds since the epoch of a TIMESTAMP (microseconds) or a UTC DATETIME (text without a zone). */
export function toSeconds(value: unknown): number {
  return typeof value === 'string' ? Date.parse(`${value}Z`) / 1000 : Number(value) / 1e6;
}

/**
 * The charts for columns of these names, for any endpoint: counts and errors as areas from zero, minimum to
 * maximum of one quantity as bands, `total_…` as stacked areas, all others as lines.
 *
 * @param range what the answer covers, if that is known
 */
export function toCharts(columns: Columns, rows: readonly Row[], range?: AnswerRange): Chart[] {
  const time = findTime(columns);
  if (time === undefined) return [];
  const left = new Set(numbersOf(columns).map((column) => column.name));
  const take = (names: readonly string[]) => names.filter((name) => left.delete(name));
  const { spans, at } = toGrid(
    rows.map((row) => toSeconds(row[time])),
    range,
  );
  const grid = { spans, partial: range === undefined ? [] : findPartial(spans, range) };
  const searchOf = (name: string) => columns.find((column) => column.name === name)?.search ?? undefined;
  const valuesOf = (name: string, empty: number | null) =>
    at.map((index) => (index === undefined ? empty : toNumber(ownMember(rows[index] ?? {}, name))));
  const charts: Chart[] = [];

  const quantity = findQuantity([...left]);
  if (left.has('count') && left.has('error_count')) {
    take(['count', 'error_count']);
    charts.push({
      title: 'Count and errors',
      ...grid,
      format: formatShort,
      summary: total,
      series: [
        { label: 'Count', color: 'data-1', values: valuesOf('count', 0) },
        {
          label: 'Errors',
          color: 'data-bad',
          values: valuesOf('error_count', 0),
          search: searchOf('error_count'),
        },
      ],
    });
  }
  if (quantity !== undefined) {
    take(quantity.columns.map(({ name }) => name));
    charts.push({
      title: sentence(quantity.name),
      ...grid,
      format: unitOf(columns, quantity.columns[0]?.name),
      summary: last(unitOf(columns, quantity.columns[0]?.name)),
      series: toBands(quantity.columns.map(({ name, part }) => ({ part, values: valuesOf(name, null) }))),
    });
  }
  const totals = take([...left].filter((name) => name.startsWith('total_')));
  if (totals.length > 0) {
    const series = totals.map((name, i) => ({
      label: sentence(name.replace(/^total_/, '').replace(/_requests$/, '')),
      color: COLORS[i % COLORS.length] ?? 'data-1',
      values: valuesOf(name, 0),
      search: searchOf(name),
    }));
    charts.push({
      title: 'Requests by area',
      ...grid,
      stacked: true,
      format: formatShort,
      summary: total,
      series,
    });
  }
  for (const name of left) {
    const format = unitOf(columns, name);
    const line = { label: sentence(name), color: 'data-1', kind: 'line', search: searchOf(name) } as const;
    const series = [{ ...line, values: valuesOf(name, null) }];
    charts.push({ title: line.label, ...grid, format, summary: last(format), series });
  }
  return charts;
}

const COLORS: readonly DataColor[] = ['data-1', 'data-2', 'data-3', 'data-4'];
const PERCENTILE_COLORS: readonly DataColor[] = ['data-4', 'data-3', 'data-1'];
const POINTS_MAX = 5_000;

/**
 * Empty time buckets are not returned: fills the grid from the first to the last bucket with the rows.
 *
 * @param range with the width of the buckets; otherwise it is the least distance of two rows, and one row is of all the rest of the range
 */
function toGrid(seconds: readonly number[], range: AnswerRange | undefined) {
  const rowOf = new Map(seconds.map((second, i) => [second, i]));
  const sorted = [...rowOf.keys()].filter(Number.isFinite).sort((a, b) => a - b);
  const [first = 0] = sorted;
  const end = sorted.at(-1) ?? 0;
  const width =
    range?.widthSeconds ?? Math.min(...sorted.slice(1).map((second, i) => second - (sorted[i] ?? 0)));
  const count = Number.isFinite(width) ? Math.round((end - first) / width) + 1 : sorted.length;
  const isEven = sorted.every((second) => Math.abs(((second - first) / width) % 1) < 1e-6);
  const isFilled = isEven && count <= POINTS_MAX && sorted.length > 1;
  const times = isFilled ? Array.from({ length: count }, (_, i) => first + i * width) : sorted;
  const spans = times.map((from, i): Span => {
    const next = isEven ? undefined : times[i + 1];
    const until = Number.isFinite(width) ? from + width : Math.max(from, range?.until ?? from);
    return { from, until: next ?? until };
  });
  return { spans, at: times.map((second) => rowOf.get(second)) };
}

interface Quantity {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly part: string }[];
}

const PART = /^(min|max|avg|p\d{1,2})_(.+)$/;

/** Columns that are parts of one distribution, such as `min_execution_time` and `p99_execution_time`. */
function findQuantity(names: readonly string[]): Quantity | undefined {
  const found = names.flatMap((name) => {
    const [, part, of] = PART.exec(name) ?? [];
    return part === undefined || of === undefined ? [] : [{ name, part, of }];
  });
  const of = found[0]?.of;
  const columns = found.filter((one) => one.of === of);
  return of === undefined || columns.length < 2 ? undefined : { name: of, columns };
}

/** From the top of the distribution down, each band shaded to the one below it. */
function toBands(parts: readonly { part: string; values: (number | null)[] }[]): ChartSeries[] {
  const rank = (part: string) =>
    part === 'max' ? 101 : part === 'min' ? -1 : part === 'avg' ? 50 : Number(part.slice(1));
  const sorted = parts.toSorted((a, b) => rank(b.part) - rank(a.part));
  let percentiles = 0;
  return sorted.map(({ part, values }, i): ChartSeries => {
    if (part === 'min') return { label: 'Min', color: 'data-1', kind: 'range', values };
    if (part === 'avg') return { label: 'Average', color: 'data-1', kind: 'dashed', values };
    if (part === 'max') return { label: 'Max', color: 'data-2', kind: 'wide', values };
    const color = PERCENTILE_COLORS[percentiles++ % PERCENTILE_COLORS.length] ?? 'data-1';
    const below = i + 1 < sorted.length ? { bandTo: i + 1 } : {};
    return { label: part, color, kind: 'line', values, ...below };
  });
}

function unitOf(columns: Columns, name: string | undefined): (value: number) => string {
  const description = columns.find((column) => column.name === name)?.description ?? '';
  return /\bmilliseconds?\b/.test(description) ? formatMs : formatShort;
}

function total(values: readonly (number | null)[]): string {
  return `${formatShort(values.reduce<number>((sum, value) => sum + (value ?? 0), 0))} in all`;
}

function last(format: (value: number) => string) {
  return (values: readonly (number | null)[]): string => {
    const value = values.findLast((one) => one !== null);
    return value == null ? '–' : `${format(value)} last`;
  };
}

function toNumber(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}

function sentence(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
