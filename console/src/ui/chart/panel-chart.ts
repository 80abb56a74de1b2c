import type { PanelView } from '../../../../src/management/dashboard-view.ts';
import type { ChartView, EndpointView } from '../../../../src/management/view.ts';

/** A chart that says nothing. */
export const PLAIN: Omit<ChartView, 'time' | 'series' | 'values'> = {
  ...{ show: 'line', title: null, unit: null, band: [], bad: [], top: null, thresholds: [] },
};
const TABLE: ChartView = { ...PLAIN, show: 'table', time: null, series: null, values: [] };

/** The chart of a panel: the first that has its columns, changed as the panel says. @param charts those of its endpoint */
export function toPanelChart(
  charts: readonly ChartView[],
  { columns, show, title, unit }: Pick<PanelView, 'show' | 'title' | 'columns' | 'unit'>,
): ChartView {
  const hasAll = ({ values, band }: ChartView) =>
    columns.every((name) => values.includes(name) || band.includes(name));
  const base = charts.find(hasAll) ?? charts[0] ?? TABLE;
  const own = columns.length > 0;
  const values = own ? [...columns] : show === 'table' ? [] : base.values;
  const chart: ChartView = {
    ...base,
    show: show === null || show === 'text' ? base.show : show,
    title: title ?? (own && columns.join() !== base.values.join() ? null : base.title),
    values,
    unit: unit ?? base.unit,
    band: own ? [] : base.band,
    bad: base.series === null ? base.bad.filter((name) => values.includes(name)) : base.bad,
  };
  return withAxis(chart);
}

/** Replaces a kind that needs a time or a series that the answer does not have. */
function withAxis(chart: ChartView): ChartView {
  const { show, time, series, values } = chart;
  if (show === 'number') return { ...chart, series: null };
  if (show === 'table' || time !== null) return chart;
  const isBar = series !== null && values.length === 1;
  return { ...chart, show: isBar ? 'bar' : 'table' };
}

// Averages and durations have no sum; counts, bytes and numbers of any other unit have one.
const NOT_SUMMED: ReadonlySet<string | null> = new Set(['ms', 'µs', 's', '%', 'ratio']);

/** Whether the values of a column add up: counts do, averages and durations do not. */
export function addsUp(
  { unit, show }: Pick<ChartView, 'unit' | 'show'>,
  columns: EndpointView['columns'],
  name: string,
): boolean {
  const isInteger = columns.find((one) => one.name === name)?.type === 'integer';
  return !NOT_SUMMED.has(unit) && (show === 'stacked' || isInteger);
}

const FROM = /(?:^|_)(?:start|from|since|after)$/;
const UNTIL = /(?:^|_)(?:end|until|to|before)$/;

/** The names of the parameters that bound an answer's time, by their type and their names. */
export function findBounds(parameters: EndpointView['parameters']): {
  from: string | undefined;
  until: string | undefined;
} {
  const find = (pattern: RegExp) =>
    parameters.find(({ name, type }) => type === 'timestamp' && pattern.test(name))?.name;
  return { from: find(FROM), until: find(UNTIL) };
}
