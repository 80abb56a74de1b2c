import type { ChartView } from '../../../../src/management/view.ts';
import type { Row } from '../../api/answer.ts';
import { formatTerm } from '../../format/search-text.ts';
import { ownMember } from '../../format/values.ts';
import type { Chart, ChartSeries, DataColor } from './chart.ts';
import { type Drawn, type Grid, toGrid, toSeconds } from './drawable.ts';
import {
  type Columns,
  describeThreshold,
  findThreshold,
  findUnit,
  groupRows,
  type Join,
  labelsOf,
  numbersOf,
  type Rule,
  ruleOf,
  sum,
  titleOf,
  toNumber,
} from './rule.ts';

export type Bar = ReturnType<typeof toBars>[number];

export type BigNumber = ReturnType<typeof toNumbers>[number];

export type Drawing =
  | { readonly kind: 'time'; readonly title: string; readonly chart: Chart }
  | { readonly kind: 'bars'; readonly title: string; readonly bars: readonly Bar[] }
  | { readonly kind: 'number'; readonly title: string; readonly numbers: readonly BigNumber[] }
  | { readonly kind: 'table'; readonly title: string; readonly columns: Columns };

export function toDrawing(chart: ChartView, drawn: Drawn): Drawing {
  const { suffix } = findUnit(chart.unit);
  const title = `${titleOf(chart, drawn.columns)}${suffix === undefined ? '' : `, ${suffix}`}`;
  if (chart.show === 'table') {
    const { values } = chart;
    const shown = values.flatMap((name) => drawn.columns.find((column) => column.name === name) ?? []);
    return { kind: 'table', title: chart.title ?? '', columns: values.length === 0 ? drawn.columns : shown };
  }
  if (chart.show === 'number')
    return { kind: 'number', title: chart.title ?? '', numbers: toNumbers(chart, drawn) };
  if (chart.time === null) return { kind: 'bars', title, bars: toBars(chart, drawn) };
  return { kind: 'time', title, chart: { title, ...toTimeChart({ ...chart, time: chart.time }, drawn) } };
}

const BARS_TOP = 20;

/** A bar for each value of the chart's `series`, the greatest first; those past `top` are one. */
function toBars(chart: ChartView, { columns, rows }: Drawn) {
  const [value = ''] = chart.values;
  const { unit, joinOf } = ruleOf(chart, columns);
  const join = joinOf(value);
  const { shown, others } = groupRows(rows, chart.series ?? '', { value, join, top: chart.top ?? BARS_TOP });
  const barOf = (label: string, own: Drawn['rows'], color: 'data-1' | 'data-bad' | 'data-other') => {
    const joined = join(numbersOf(own, value));
    const beyond = findThreshold(chart.thresholds, joined);
    return {
      label,
      value: joined ?? 0,
      text: joined === null ? '–' : unit.format(joined),
      color: beyond === undefined ? color : ('data-bad' as const),
      /** The threshold that it is beyond. */
      note: beyond && describeThreshold(beyond, unit.format),
    };
  };
  const bars = shown.map(({ label, rows: own }) =>
    barOf(label, own, chart.bad.includes(label) ? 'data-bad' : 'data-1'),
  );
  return others === undefined ? bars : [...bars, barOf(others.label, others.rows, 'data-other')];
}

/** A number for each column: of counts the sum of all rows, else the value of the newest row, or of the first one without a time. */
function toNumbers(chart: ChartView, drawn: Drawn) {
  const { time, values } = chart;
  const { rows } = drawn;
  const rule = ruleOf(chart, drawn.columns);
  const labels = labelsOf(values);
  const newest = time === null ? rows[0] : rows.toSorted((a, b) => timeOf(b, time) - timeOf(a, time))[0];
  const trends = time === null ? [] : toTimeChart({ ...chart, time, thresholds: [] }, drawn).series;
  return values.map((name, i) => {
    const value = rule.adds(name) ? sum(numbersOf(rows, name)) : toNumber(ownMember(newest ?? {}, name));
    const found = rule.adds(name) ? 'in all' : time === null ? 'first row' : 'last';
    return {
      label: labels[i] ?? name,
      ...describe(value, { chart, rule, note: rows.length > 1 ? found : undefined }),
      /** Over time, oldest first; empty: there is no time. */
      trend: trends[i]?.values ?? [],
    };
  });
}

const TONES = { critical: 'bad', warning: 'warn' } as const;

/** @param note of a value that is not beyond a threshold */
function describe(
  value: number | null,
  { chart, rule: { unit }, note }: { chart: ChartView; rule: Rule; note: string | undefined },
) {
  const suffix = unit.suffix === undefined ? '' : ` ${unit.suffix}`;
  const text = value === null ? '–' : `${unit.format(value)}${suffix}`;
  const beyond = findThreshold(chart.thresholds, value);
  if (beyond === undefined) return { text, note, tone: undefined };
  return { text, note: describeThreshold(beyond, unit.format), tone: TONES[beyond.severity] };
}

function timeOf(row: Drawn['rows'][number], time: string): number {
  const seconds = toSeconds(ownMember(row, time));
  return Number.isNaN(seconds) ? Number.NEGATIVE_INFINITY : seconds;
}

type TimeChart = ChartView & { readonly time: string };

const COLORS: readonly DataColor[] = ['data-1', 'data-2', 'data-3', 'data-4', 'data-5', 'data-6', 'data-7'];
const SERIES_TOP = 6;

/** Values over time: a series for each column, or for each value of the chart's `series`. */
function toTimeChart(chart: TimeChart, drawn: Drawn): Omit<Chart, 'title'> {
  const grid = toGrid(
    drawn.rows.map((row) => timeOf(row, chart.time)),
    drawn.range,
  );
  const rule = ruleOf(chart, drawn.columns);
  const { unit } = rule;
  const total = chart.values.some((name) => !rule.adds(name)) ? undefined : sum;
  const kind = kindOf(chart, grid, rule);
  const valuesOf = (own: readonly Row[], column: string) => {
    const places = grid.spans.map((): Row[] => []);
    for (const row of own) places[grid.placeOf.get(timeOf(row, chart.time)) ?? -1]?.push(row);
    const empty = rule.adds(column) ? 0 : null;
    const join = rule.joinOf(column);
    return places.map((here) => (here.length === 0 ? empty : join(numbersOf(here, column))));
  };
  return {
    spans: grid.spans,
    partial: grid.partial,
    series: listLines(chart, drawn, rule).map(({ rows, column, ...line }) => {
      return { kind, ...line, values: valuesOf(rows, column) };
    }),
    format: unit.format,
    // Series of one column are parts of a whole; a column may be a part of another one, as failures are of all.
    stacked: chart.show === 'stacked' || (kind === 'bar' && (chart.series !== null || chart.show === 'bar')),
    thresholds: chart.thresholds.map((threshold) => ({
      value: threshold.value,
      label: describeThreshold(threshold, unit.format),
      color: threshold.severity === 'critical' ? 'bad' : 'warn',
    })),
    summary: summarize(unit.format, total),
  };
}

type Kind = 'bar' | 'area' | 'line';

/** Counts in time buckets are bars, whatever the chart says: a line would fall towards a bucket that is not over. */
function kindOf({ show, series, values, band }: ChartView, grid: Grid, rule: Rule): Kind {
  const addUp = values.every(rule.adds);
  if (show === 'bar' || (addUp && grid.isEven && band.length === 0)) return 'bar';
  return show === 'stacked' || (addUp && series === null && values.length <= 2) ? 'area' : 'line';
}

/** A series before its values: it is of a column of some rows. */
interface Line extends Omit<ChartSeries, 'values'> {
  readonly rows: readonly Row[];
  readonly column: string;
}

function listLines(chart: TimeChart, { columns, rows }: Drawn, rule: Rule): readonly Line[] {
  const { values, band, bad, series, top } = chart;
  if (series === null) {
    const labels = labelsOf([...values, ...band]);
    const colors = pickColors(values, bad);
    const all = [...values, ...band].map((column, i): Line => {
      const [label = column, color = 'data-1'] = [labels[i], colors[i]];
      return { label, color, rows, column, search: searchOf(columns, column) };
    });
    const lines = all.slice(0, values.length);
    const [least, most] = all.slice(values.length);
    if (least === undefined || most === undefined) return lines;
    return [{ ...most, kind: 'range', bandTo: lines.length + 1 }, ...lines, { ...least, kind: 'range' }];
  }
  const [column = ''] = values;
  const grouping = {
    value: column,
    join: rule.joinOf(column),
    top: top ?? SERIES_TOP,
    shownMax: COLORS.length,
  };
  const { shown, others } = groupRows(rows, series, grouping);
  const colors = pickColors(
    shown.map(({ label }) => label),
    bad,
  );
  const lines = shown.map(({ label, rows: own }, i): Line => {
    const search = searchOfValue(columns, series, own);
    return { label, color: colors[i] ?? 'data-1', rows: own, column, search };
  });
  return others === undefined ? lines : [...lines, { ...others, color: 'data-other', column }];
}

const EXISTS = /^([^\s()"]+):\*$/;

/** The search for the value of a series, if that of its column is `field:*`; the value of another column cannot be searched for. */
function searchOfValue(columns: Columns, column: string, rows: readonly Row[]): string | undefined {
  const [, field] = EXISTS.exec(searchOf(columns, column) ?? '') ?? [];
  const value = ownMember(rows[0] ?? {}, column);
  const hasValue = value !== undefined && value !== null && value !== '';
  return field !== undefined && hasValue ? formatTerm(field, String(value)) : undefined;
}

function searchOf(columns: Columns, name: string): string | undefined {
  return columns.find((column) => column.name === name)?.search ?? undefined;
}

/** Colours in their order; failures have theirs. */
function pickColors(names: readonly string[], bad: readonly string[]): DataColor[] {
  let next = 0;
  return names.map((name) =>
    bad.includes(name) ? 'data-bad' : (COLORS[next++ % COLORS.length] ?? 'data-1'),
  );
}

function summarize(format: (value: number) => string, total: Join | undefined) {
  return (values: readonly (number | null)[]): string => {
    const known = values.filter((one) => one !== null);
    if (total !== undefined) return `${format(total(known) ?? 0)} in all`;
    const last = known.at(-1);
    return last === undefined ? '–' : `latest ${format(last)}`;
  };
}
