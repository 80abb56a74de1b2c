import { TIME_COLUMN } from '../../definitions/pages.ts';
import type { DashboardView, PanelView } from '../../management/dashboard-view.ts';
import { toPanelChart } from '../../management/panel-view.ts';
import type { ChartView, EndpointView } from '../../management/view.ts';
import { DATA_SOURCE, isOverTime, toTarget } from './target.ts';

export interface GrafanaPanel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: GridPos;
  readonly options: object;
  readonly fieldConfig?: object;
  readonly targets?: readonly object[];
}

interface GridPos {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

interface PanelParts {
  readonly id: number;
  readonly gridPos: GridPos;
  readonly panel: PanelView;
  /** `undefined`: a text, or the endpoint does not exist. */
  readonly endpoint: EndpointView | undefined;
  readonly dashboard: DashboardView;
}

/** Writes a panel of a dashboard for Grafana. A panel without its endpoint becomes a text that says so. */
export function toGrafanaPanel({ id, gridPos, panel, endpoint, dashboard }: PanelParts): GrafanaPanel {
  if (endpoint === undefined) {
    const text = panel.text ?? `No endpoint is called ${JSON.stringify(panel.endpoint)}.`;
    const options = { mode: 'markdown', content: escapeMarkdown(text) };
    return { id, type: 'text', title: panel.title ?? '', gridPos, options };
  }
  const chart = toPanelChart(chartsOf(endpoint), panel);
  const { type, options } = toKind(chart);
  return {
    ...{ id, type, title: chart.title ?? endpoint.name, gridPos },
    ...{ description: endpoint.description, datasource: DATA_SOURCE },
    ...{ options, fieldConfig: toFieldConfig(chart) },
    targets: [toTarget({ panel, endpoint, chart, dashboard })],
  };
}

const PLAIN: Omit<ChartView, 'time' | 'values'> = {
  ...{ show: 'line', title: null, series: null, unit: null, band: [], bad: [], top: null, thresholds: [] },
};

/**
 * The charts of an endpoint; without any a line for each number over its time, if it has one. The console also reads
 * the values.
 */
function chartsOf({ charts, columns }: EndpointView): ChartView[] {
  const time = columns.find(({ name }) => name === TIME_COLUMN)?.name;
  if (charts.length > 0 || time === undefined) return charts;
  const numbers = columns.filter(
    ({ name, type }) => name !== time && (type === 'integer' || type === 'number'),
  );
  return numbers.map(({ name }) => ({ ...PLAIN, time, values: [name] }));
}

/** The kind of Grafana's panel, with the options of that kind. */
function toKind(chart: ChartView): { type: string; options: object } {
  const { show, series, values, thresholds } = chart;
  if (show === 'table') return { type: 'table', options: { showHeader: true } };
  if (show === 'number') {
    const reduceOptions = { calcs: ['lastNotNull'], fields: '', values: false };
    const colorMode = thresholds.length > 0 ? 'value' : 'none';
    const textMode = values.length > 1 ? 'value_and_name' : 'value';
    return { type: 'stat', options: { reduceOptions, colorMode, textMode, graphMode: 'none' } };
  }
  const legend = { showLegend: true, displayMode: 'list', placement: 'bottom' };
  const tooltip = { mode: 'multi', sort: 'desc' };
  if (isOverTime(chart)) return { type: 'timeseries', options: { legend, tooltip } };
  return {
    type: 'barchart',
    options: { xField: series, orientation: 'horizontal', legend: { ...legend, showLegend: false }, tooltip },
  };
}

/** Texts of panels are plain. */
function escapeMarkdown(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]<>#+\-!|~&]/g, '\\$&').replaceAll(/^(\s*\d+)([.)])/gm, '$1\\$2');
}

const UNITS: ReadonlyMap<string | null, string> = new Map([
  [null, 'short'],
  ...(['ms', 'µs', 's', 'bytes'] as const).map((name) => [name, name] as const),
  ['%', 'percent'],
  ['ratio', 'percentunit'],
]);

/** How Grafana writes and colours the values of a chart. */
function toFieldConfig(chart: ChartView): object {
  if (chart.show === 'table') return { defaults: {}, overrides: [] };
  return {
    defaults: {
      unit: UNITS.get(chart.unit) ?? `suffix: ${chart.unit}`,
      thresholds: { mode: 'absolute', steps: toSteps(chart.thresholds) },
      ...(isOverTime(chart) ? toTimeFields(chart) : { color: { mode: 'thresholds' } }),
    },
    overrides: [...toBand(chart.band), ...chart.bad.map((name) => override(name, 'color', FAILURE))],
  };
}

const FAILURE = { mode: 'fixed', fixedColor: 'red' };
const FILL = 15;
const FILL_STACKED = 60;

function toTimeFields({ show, series, values, thresholds }: ChartView): object {
  const isStacked = show === 'stacked' || (show === 'bar' && (series !== null || values.length > 1));
  return {
    // Otherwise the name of the column stands before each value of the series.
    ...(series !== null && { displayName: `$\{__field.labels.${series}}` }),
    color: { mode: 'palette-classic' },
    custom: {
      drawStyle: show === 'bar' ? 'bars' : 'line',
      fillOpacity: show === 'line' ? FILL : FILL_STACKED,
      stacking: { mode: isStacked ? 'normal' : 'none', group: 'A' },
      thresholdsStyle: { mode: thresholds.length > 0 ? 'line' : 'off' },
    },
  };
}

/** The area between the least and the greatest value. */
function toBand([least, most]: readonly string[]): object[] {
  if (least === undefined || most === undefined) return [];
  return [
    override(most, 'custom.fillBelowTo', least),
    ...[least, most].map((name) => override(name, 'custom.lineWidth', 0)),
  ];
}

function override(name: string, id: string, value: unknown): object {
  return { matcher: { id: 'byName', options: name }, properties: [{ id, value }] };
}

const COLORS = { critical: 'red', warning: 'orange' } as const;

/** Grafana's steps, each up to the next: the colour of the most severe threshold that its values are beyond. */
function toSteps(thresholds: ChartView['thresholds']): { color: string; value: number | null }[] {
  const limits = [...new Set(thresholds.map(({ value }) => value))].toSorted((a, b) => a - b);
  return [null, ...limits].map((from) => {
    const value = from ?? Number.NEGATIVE_INFINITY;
    const beyond = thresholds.filter((one) => (one.is === 'above' ? value >= one.value : value < one.value));
    const worst = beyond.find(({ severity }) => severity === 'critical') ?? beyond[0];
    return { color: worst === undefined ? 'green' : COLORS[worst.severity], value: from };
  });
}
