import type { ChartView } from '../../../../src/management/view.ts';
import type { Row } from '../../api/answer.ts';
import { ownMember } from '../../format/own.ts';
import { formatTerm } from '../../format/search-text.ts';
import { type Columns, type Drawn, type Grid, toGrid, toSeconds } from './answer-range.ts';
import type { Chart, ChartSeries, DataColor } from './chart.ts';
import {
  describeThreshold,
  groupRows,
  type Join,
  labelsOf,
  numbersOf,
  type Rule,
  ruleOf,
  sum,
} from './rule.ts';

type TimeChart = ChartView & { readonly time: string };

const COLORS: readonly DataColor[] = ['data-1', 'data-2', 'data-3', 'data-4', 'data-5', 'data-6', 'data-7'];
const TOP = 6;

/** Values over time: a series for each column, or for each value of the chart's `series`. */
export function toTimeChart(chart: TimeChart, { columns, rows, range }: Drawn): Omit<Chart, 'title'> {
  const grid = toGrid(
    rows.map((row) => toSeconds(ownMember(row, chart.time))),
    range,
  );
  const rule = ruleOf(chart, columns);
  const { unit } = rule;
  const total = chart.values.some((name) => !rule.adds(name)) ? undefined : sum;
  const kind = kindOf(chart, grid, rule);
  const place = { chart, columns, rows, grid, rule, kind };
  return {
    spans: grid.spans,
    partial: grid.partial,
    series: chart.series === null ? toColumnSeries(place) : toValueSeries(place, chart.series),
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

interface Parts extends Pick<Drawn, 'columns' | 'rows'> {
  readonly chart: TimeChart;
  readonly grid: Grid;
  readonly rule: Rule;
  readonly kind: Kind;
}

function toColumnSeries({ chart, columns, rows, grid, rule, kind }: Parts): ChartSeries[] {
  const { values, band, bad } = chart;
  const labels = labelsOf([...values, ...band]);
  const colors = pickColors(values.map((name) => bad.includes(name)));
  const seriesOf = (name: string, index: number) => ({
    label: labels[index] ?? name,
    values: toValues({ chart, rows, grid, join: rule.joinOf(name) }, name, rule.adds(name) ? 0 : null),
    search: searchOf(columns, name),
  });
  const lines = values.map(
    (name, i) => ({ ...seriesOf(name, i), color: colors[i] ?? 'data-1', kind }) as const,
  );
  const [least, most] = band.map((name, i) => seriesOf(name, values.length + i));
  if (least === undefined || most === undefined) return lines;
  const range = { color: 'data-1', kind: 'range' } as const;
  return [{ ...most, ...range, bandTo: lines.length + 1 }, ...lines, { ...least, ...range }];
}

function toValueSeries({ chart, columns, rows, grid, rule, kind }: Parts, column: string): ChartSeries[] {
  const [value = ''] = chart.values;
  const join = rule.joinOf(value);
  const empty = rule.adds(value) ? 0 : null;
  const top = chart.top ?? TOP;
  const { shown, others } = groupRows(rows, column, { value, join, top, shownMax: COLORS.length });
  const colors = pickColors(shown.map(({ label }) => chart.bad.includes(label)));
  const series = shown.map(({ label, rows: own }, i): ChartSeries => {
    const values = toValues({ chart, rows: own, grid, join }, value, empty);
    return { label, color: colors[i] ?? 'data-1', kind, values, search: searchOfValue(columns, column, own) };
  });
  if (others === undefined) return series;
  const values = toValues({ chart, rows: others.rows, grid, join }, value, empty);
  return [...series, { label: others.label, color: 'data-other', kind, values }];
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

/** The values of a column at each place of the grid. @param empty of a place without rows */
function toValues(
  { chart, rows, grid, join }: { chart: TimeChart; rows: readonly Row[]; grid: Grid; join: Join },
  column: string,
  empty: number | null,
): (number | null)[] {
  const places = grid.spans.map((): Row[] => []);
  for (const row of rows) places[grid.placeOf.get(toSeconds(ownMember(row, chart.time))) ?? -1]?.push(row);
  return places.map((own) => (own.length === 0 ? empty : join(numbersOf(own, column))));
}

/** Colours in their order; failures have theirs. */
function pickColors(areBad: readonly boolean[]): DataColor[] {
  let next = 0;
  return areBad.map((isBad) => (isBad ? 'data-bad' : (COLORS[next++ % COLORS.length] ?? 'data-1')));
}

function summarize(format: (value: number) => string, total: Join | undefined) {
  return (values: readonly (number | null)[]): string => {
    const known = values.filter((one) => one !== null);
    if (total !== undefined) return `${format(total(known) ?? 0)} in all`;
    const last = known.at(-1);
    return last === undefined ? '–' : `latest ${format(last)}`;
  };
}
