import { TIME_COLUMN } from '../../definitions/pages.ts';
import type { DashboardView, PanelView } from '../../management/dashboard-view.ts';
import { addsUp, findBounds } from '../../management/panel-view.ts';
import type { ChartView, EndpointView } from '../../management/view.ts';

export const DATA_SOURCE_TYPE = 'yesoreyeram-infinity-datasource';
export const DATA_SOURCE = { type: DATA_SOURCE_TYPE, uid: '$' + '{datasource}' };

interface TargetParts {
  readonly panel: PanelView;
  readonly endpoint: EndpointView;
  readonly chart: ChartView;
  readonly dashboard: DashboardView;
}

/** The request of a panel, as the Infinity data source has it. */
export function toTarget(parts: TargetParts): object {
  const { endpoint, chart } = parts;
  const columns = findColumns(endpoint, chart);
  const times = findTimes(endpoint, chart);
  return {
    ...{ refId: 'A', datasource: DATA_SOURCE, type: 'json', source: 'url', parser: 'jq-backend' },
    format: isOverTime(chart) ? 'timeseries' : 'table',
    url: `/api/endpoints/query/${encodeURIComponent(endpoint.name)}`,
    url_options: { method: 'GET', data: '', headers: [], params: toParams(parts) },
    root_selector: toSelector(columns, { endpoint, chart, times }),
    columns: columns.map(({ name, type }) => ({
      ...{ selector: name, text: name },
      type: times.has(name) ? TIMES[type] : name === chart.series ? 'string' : TYPES[type],
    })),
    ...{ filters: [], computed_columns: [] },
  };
}

/** Whether values are drawn along a time. */
export function isOverTime({ show, time }: ChartView): boolean {
  return time !== null && show !== 'table' && show !== 'number';
}

type Column = EndpointView['columns'][number];

const TYPES: Readonly<Record<Column['type'], string>> = {
  ...{ string: 'string', integer: 'number', number: 'number', boolean: 'boolean', json: 'string' },
};
/** `toSelector` makes milliseconds of microseconds. */
const TIMES: Readonly<Record<Column['type'], string>> = {
  ...TYPES,
  integer: 'timestamp_epoch',
  string: 'timestamp',
};

function findColumns({ columns }: EndpointView, chart: ChartView): Column[] {
  const { show, time, series, values, band } = chart;
  if (show === 'table' && values.length === 0) return columns;
  const axis = show === 'number' || show === 'table' ? [] : [time, series];
  return [...axis, ...values, ...band].flatMap(
    (name) => columns.find((column) => column.name === name) ?? [],
  );
}

/** Columns whose values are times: the axes of charts, and `timestamp`. */
function findTimes({ charts }: EndpointView, chart: ChartView): Set<string> {
  const named = [chart.time, ...charts.map(({ time }) => time)];
  return new Set([TIME_COLUMN, ...named.flatMap((name) => name ?? [])]);
}

interface SelectorParts extends Pick<TargetParts, 'endpoint' | 'chart'> {
  readonly times: ReadonlySet<string>;
}

/**
 * The rows for the data source, in jq: as its types want them, and in order of time, which a series for each value of a
 * column needs.
 */
function toSelector(columns: readonly Column[], { endpoint, chart, times }: SelectorParts): string {
  const { show, time } = chart;
  const inOrder = time === null || show === 'table' ? [] : [`sort_by(${fieldOf(time)})`];
  if (show === 'number') return ['.result', ...inOrder, toNumbers(endpoint, chart)].join(' | ');
  const bars = show === 'bar' && time === null ? [toBars(endpoint, chart)] : [];
  const changes = columns.flatMap(({ name, type }) => {
    const change =
      type === 'json' ? 'tojson' : times.has(name) && type === 'integer' ? '. / 1000 | floor' : '';
    return change === '' ? [] : [`map(${fieldOf(name)} |= if . == null then null else ${change} end)`];
  });
  return ['.result', ...inOrder, ...bars, ...changes].join(' | ');
}

const fieldOf = (name: string) => `.[${JSON.stringify(name)}]`;

/** One row, as the console: of counts the sum, else the newest value, or that of the first row without a time. */
function toNumbers({ columns }: EndpointView, chart: ChartView): string {
  const row = chart.values.map((name) => {
    const one = `.[${chart.time === null ? 0 : -1}] | ${fieldOf(name)}`;
    const value = addsUp(chart, columns, name) ? `map(${fieldOf(name)}) | add` : one;
    return `${JSON.stringify(name)}: (${value})`;
  });
  return `[{${row.join(', ')}}]`;
}

const BARS_MAX = 20;

/** A row for each value of `series`, the greatest first; the console has the rest as one bar. */
function toBars({ columns }: EndpointView, chart: ChartView): string {
  const { series, values, top } = chart;
  const [value = ''] = values;
  const [key, number] = [fieldOf(series ?? ''), fieldOf(value)];
  const join = addsUp(chart, columns, value) ? 'add' : 'max';
  const row = `{${JSON.stringify(series)}: .[0]${key.slice(1)}, ${JSON.stringify(value)}: (map(${number}) | ${join})}`;
  return `group_by(${key}) | map(${row}) | sort_by(${number}) | reverse | .[:${top ?? BARS_MAX}]`;
}

/** The parameters of the request: the panel's own, then those that the dashboard shares, then what its range sets. */
function toParams({ panel, endpoint, dashboard }: TargetParts): { key: string; value: string }[] {
  const shared = new Set(dashboard.parameters.map(({ name }) => name));
  const ofRange = rangeParams(endpoint);
  return endpoint.parameters.flatMap(({ name: key }) => {
    const own = Object.hasOwn(panel.parameters, key) ? panel.parameters[key] : undefined;
    if (own !== undefined) return [{ key, value: [own].flat().join(',') }];
    const value = shared.has(key) ? `$\{${variableOf(key)}:raw}` : ofRange.get(key);
    return value === undefined ? [] : [{ key, value }];
  });
}

/** As values.ts of the console: bounds of type timestamp. */
function rangeParams({ parameters }: EndpointView): Map<string, string> {
  const { from, until } = findBounds(parameters);
  const params = new Map<string, string>();
  if (from !== undefined) params.set(from, '$' + '{__from:date:iso}');
  if (until !== undefined) params.set(until, '$' + '{__to:date:iso}');
  return params;
}

/**
 * The name of a parameter's variable: Grafana reserves names that begin with `__`, and `datasource` is that of the data
 * source.
 */
function variableOf(parameter: string): string {
  return /^(?:__|datasource$|parameter_)/.test(parameter) ? `parameter_${parameter}` : parameter;
}

/**
 * Grafana's variables for the parameters that panels share: a choice for those with a list of values, else a field of
 * text.
 */
export function toVariables(
  { parameters, rows }: DashboardView,
  endpoints: readonly EndpointView[],
): object[] {
  const used = new Set(rows.flatMap(({ panels }) => panels.map(({ endpoint }) => endpoint)));
  const declared = endpoints.filter(({ name }) => used.has(name)).flatMap((one) => one.parameters);
  return parameters.map(({ name, default: value }) => {
    const found = declared.find((one) => one.name === name);
    const values = found?.values ?? [];
    // A list of choices has no empty one, and separates them by commas.
    const isChoice = values.includes(value) && values.every((one) => !/[,:\\]/.test(one));
    const current = { text: value, value, selected: true };
    return {
      ...{ name: variableOf(name), label: name, description: found?.description ?? '' },
      ...(isChoice
        ? {
            ...{ type: 'custom', query: values.join(',') },
            options: values.map((one) => ({ text: one, value: one, selected: one === value })),
          }
        : { type: 'textbox', query: value, options: [current] }),
      current,
    };
  });
}
