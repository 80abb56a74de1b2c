import { describe, expect, test } from 'vitest';
import { toGrafanaDashboard } from '../../../src/cli/grafana/dashboard.ts';
import type { DashboardView, PanelView } from '../../../src/management/dashboard-view.ts';
import type { ChartView, EndpointView } from '../../../src/management/view.ts';

const PANEL: PanelView = {
  ...{ endpoint: 'a b', missing: false, parameters: {}, show: null, title: null },
  ...{ columns: [], unit: null, text: null },
};
const CHART: ChartView = {
  ...{ show: 'line', title: null, time: 'at', series: null, values: ['n'], unit: null },
  ...{ band: [], bad: [], top: null, thresholds: [] },
};
const parameter = (name: string, fields: object = {}) =>
  ({
    ...{ name, type: 'string', required: false, description: '', default: '', control: 'text' },
    ...{ values: [], otherwise: null, pinned: null, search: null, ...fields },
  }) as EndpointView['parameters'][number];
const column = (name: string, type: EndpointView['columns'][number]['type']) => ({
  ...{ name, type, description: '', search: null },
});

const ENDPOINT: EndpointView = {
  ...{ id: 'a0000000-0000-4000-8000-000000000001', name: 'a b', description: 'What it counts.' },
  ...{
    max_rows: 10,
    caching_seconds: null,
    warming_seconds: null,
    query_sandboxing: false,
    live_tail: false,
  },
  ...{ parameters: [], formats: [], charts: [], bucket: null, sources: [], sql: null },
  columns: [
    column('at', 'integer'),
    column('path', 'string'),
    column('n', 'integer'),
    column('ms', 'number'),
    column('more', 'json'),
  ],
};
const DASHBOARD: DashboardView = {
  ...{ id: 'b0000000-0000-4000-8000-000000000001', name: 'one', title: 'One', description: 'First.' },
  ...{ range_seconds: 5400, parameters: [], rows: [] },
};

interface Written {
  readonly type: string;
  readonly title: string;
  readonly gridPos: object;
  readonly options: { content?: string; xField?: string };
  readonly fieldConfig: { defaults: Record<string, unknown>; overrides: object[] };
  readonly targets: {
    readonly url: string;
    readonly format: string;
    readonly root_selector: string;
    readonly columns: { selector: string; type: string }[];
    readonly url_options: { params: { key: string; value: string }[] };
  }[];
}

function panelsOf(rows: DashboardView['rows'], endpoint: Partial<EndpointView> = {}, dashboard: object = {}) {
  const { panels } = toGrafanaDashboard({ ...DASHBOARD, ...dashboard, rows }, [{ ...ENDPOINT, ...endpoint }]);
  return panels as unknown as Written[];
}

function panelOf(panel: Partial<PanelView>, endpoint: Partial<EndpointView> = {}, dashboard: object = {}) {
  const rows = [{ height_px: 220, panels: [{ ...PANEL, ...panel }] }];
  const [written] = panelsOf(rows, endpoint, dashboard);
  if (written === undefined) throw new Error('no panel');
  return written;
}

const paramsOf = (...args: Parameters<typeof panelOf>) =>
  Object.fromEntries(
    panelOf(...args).targets[0]?.url_options.params.map(({ key, value }) => [key, value]) ?? [],
  );

describe('a dashboard in Grafana', () => {
  test('has title, range and id of the file, and neither an address nor a key', () => {
    const rows = [{ height_px: 220, panels: [PANEL] }];
    const written = toGrafanaDashboard({ ...DASHBOARD, rows }, [ENDPOINT]);
    expect(written).toMatchObject({
      ...{ uid: DASHBOARD.id, title: 'One', description: 'First.', time: { from: 'now-90m', to: 'now' } },
      panels: [
        {
          datasource: { type: 'yesoreyeram-infinity-datasource', uid: '$' + '{datasource}' },
          targets: [{ url: '/api/endpoints/query/a%20b', url_options: { headers: [] } }],
        },
      ],
    });
    expect(JSON.stringify(written)).not.toMatch(/http|x-api-key/i);
  });
});

describe('the request of a panel', () => {
  const shared = { parameters: [{ name: 'project', default: 'aurora', pinned: null }] };

  test("has the panel's own values, then those that are shared, for what its endpoint declares", () => {
    const declared = { parameters: [parameter('project'), parameter('ids'), parameter('other')] };
    const own = { parameters: { project: 'a&b=c', ids: ['1', '2'] } };
    expect(paramsOf(own, declared, shared)).toEqual({ project: 'a&b=c', ids: '1,2' });
    expect(paramsOf({}, { parameters: [] }, shared)).toEqual({});
  });

  test('has the bounds of the range in Grafana, and its time buckets', () => {
    const span = (width_seconds: number, range_seconds: number) => ({ width_seconds, range_seconds });
    const declared = {
      parameters: [
        parameter('iso_timestamp_start', { type: 'timestamp' }),
        parameter('iso_timestamp_end', { type: 'timestamp' }),
        parameter('interval'),
      ],
      bucket: {
        ...{ column: 'at', by: 'interval', aligned: true },
        spans: { '7day': span(3600, 604_800), '1hr': span(60, 3600), '1day': span(60, 86_400) },
      },
    };
    expect(paramsOf({}, declared)).toEqual({
      iso_timestamp_start: '$' + '{__from:date:iso}',
      iso_timestamp_end: '$' + '{__to:date:iso}',
      interval: '$__customInterval(3600s,1hr,86400s,1day,7day)',
    });
  });

  test('has the columns of its chart in order of time, in types of the data source', () => {
    const charts = [{ ...CHART, series: 'path' }];
    const { targets, fieldConfig } = panelOf({}, { charts });
    expect(targets[0]).toMatchObject({
      format: 'timeseries',
      root_selector:
        '.result | sort_by(.["at"]) | map(.["at"] |= if . == null then null else . / 1000 | floor end)',
      columns: [
        { selector: 'at', type: 'timestamp_epoch' },
        { selector: 'path', type: 'string' },
        { selector: 'n', type: 'number' },
      ],
    });
    expect(fieldConfig.defaults['displayName']).toBe('$' + '{__field.labels.path}');
  });
});

describe('a panel in Grafana', () => {
  test('of a number has the sum of counts, and of others the newest value', () => {
    const charts = [{ ...CHART, values: ['n', 'ms'] }];
    const written = panelOf({ show: 'number' }, { charts });
    expect([written.type, written.targets[0]?.root_selector]).toEqual([
      'stat',
      '.result | sort_by(.["at"]) | [{"n": (map(.["n"]) | add), "ms": (.[-1] | .["ms"])}]',
    ]);
    const timeless = panelOf({ show: 'number', columns: ['ms'] }, { charts: [{ ...CHART, time: null }] });
    expect(timeless.targets[0]?.root_selector).toBe('.result | [{"ms": (.[0] | .["ms"])}]');
  });

  test('has the unit, the thresholds and the colours of the chart', () => {
    const thresholds = [
      { is: 'above', value: 10, severity: 'warning', label: null },
      { is: 'above', value: 20, severity: 'critical', label: null },
      { is: 'below', value: 1, severity: 'critical', label: null },
    ] as const;
    const charts = [{ ...CHART, unit: 'ms', thresholds: [...thresholds], band: ['n', 'ms'], bad: ['n'] }];
    const { fieldConfig } = panelOf({}, { charts });
    expect(fieldConfig.defaults).toMatchObject({
      unit: 'ms',
      thresholds: {
        steps: [
          { color: 'red', value: null },
          { color: 'green', value: 1 },
          { color: 'orange', value: 10 },
          { color: 'red', value: 20 },
        ],
      },
      custom: { thresholdsStyle: { mode: 'line' } },
    });
    expect(fieldConfig.overrides).toMatchObject([
      { matcher: { options: 'ms' }, properties: [{ id: 'custom.fillBelowTo', value: 'n' }] },
      { matcher: { options: 'n' }, properties: [{ id: 'custom.lineWidth', value: 0 }] },
      { matcher: { options: 'ms' }, properties: [{ id: 'custom.lineWidth', value: 0 }] },
      { matcher: { options: 'n' }, properties: [{ id: 'color', value: { fixedColor: 'red' } }] },
    ]);
    expect(panelOf({ unit: 'req' }, { charts }).fieldConfig.defaults['unit']).toBe('suffix: req');
  });
});
