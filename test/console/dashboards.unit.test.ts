import { describe, expect, test } from 'vitest';
import { formatAddress, parseAddress, toRange } from '../../console/src/page/dashboards/address.ts';
import { findPanelChart } from '../../console/src/page/dashboards/panel-chart.ts';
import { findPanelValues } from '../../console/src/page/dashboards/values.ts';
import type { ChartView, EndpointView } from '../../src/management/view.ts';

const parameter = (fields: Partial<EndpointView['parameters'][number]>) =>
  ({
    ...{ name: 'project', type: 'string', required: false, description: '', default: '', control: 'text' },
    ...{ values: [], otherwise: null, pinned: null, search: null },
    ...fields,
  }) as EndpointView['parameters'][number];

describe('the values of a panel', () => {
  const nowMs = Date.UTC(2026, 10, 20, 12, 0, 30);
  const hour = { kind: 'last', range: '1h' } as const;
  const find = (
    endpoint: Partial<Pick<EndpointView, 'parameters' | 'bucket'>>,
    panel: Record<string, string | string[]> = {},
    shared: Partial<Parameters<typeof findPanelValues>[2]> = {},
  ) =>
    findPanelValues(
      { parameters: [], bucket: null, ...endpoint },
      { parameters: panel },
      { values: {}, range: hour, nowMs, ...shared },
    );

  test('are the pins of the key, then its own, then those of the page, for what its endpoint declares', () => {
    const values = { project: 'page', other: 'page' };
    const declared = (pinned: string | null) => ({ parameters: [parameter({ pinned })] });
    expect(find(declared(null), {}, { values }).values).toEqual({ project: 'page' });
    expect(find(declared(null), { project: 'own' }, { values }).values).toEqual({ project: 'own' });
    expect(find(declared('pin'), { project: 'own' }, { values }).values).toEqual({ project: 'pin' });
    const list = { parameters: [parameter({ name: 'ids', type: 'list' })] };
    expect(find(list, { ids: ['a', 'b'] }).values).toEqual({ ids: 'a,b' });
    expect(find({ parameters: [parameter({ name: 'constructor' })] }).values).toEqual({});
  });

  test('name the required parameters that are still empty', () => {
    const parameters = [
      parameter({ required: true }),
      parameter({ name: 'days', required: true, default: '7' }),
    ];
    expect(find({ parameters }).missing).toEqual(['project']);
    expect(find({ parameters }, {}, { values: { project: 'a' } }).missing).toEqual([]);
  });

  test('have the bounds of the range, rounded so that requests share an answer', () => {
    const time = (name: string) => parameter({ name, type: 'timestamp' });
    const endpoint = {
      parameters: [time('iso_timestamp_start'), time('iso_timestamp_end'), time('created')],
    };
    expect(find(endpoint).values).toEqual({ iso_timestamp_start: '2026-11-20T11:00:00.000Z' });
    expect(find(endpoint, {}, { nowMs: nowMs + 20_000 }).values).toEqual(find(endpoint).values);
    const range = {
      kind: 'absolute',
      from: '2026-11-20T07:00:07.5Z',
      until: '2026-11-20T08:00:00Z',
    } as const;
    expect(find(endpoint, {}, { range }).values).toEqual({
      iso_timestamp_start: '2026-11-20T07:00:07.500Z',
      iso_timestamp_end: '2026-11-20T08:00:00.000Z',
    });
  });

  test('select the time buckets that cover the range, and of those the narrowest', () => {
    const span = (width_seconds: number, range_seconds: number) => ({ width_seconds, range_seconds });
    const spans = { hourly: span(3600, 3600), minutely: span(60, 3600), daily: span(86_400, 604_800) };
    const bucket = { column: 'timestamp', by: 'interval', spans, aligned: false };
    const endpoint = { parameters: [parameter({ name: 'interval' })], bucket };
    const ofRange = (range: '1h' | '6h' | '30d') =>
      find(endpoint, {}, { range: { kind: 'last', range } }).values;
    expect([ofRange('1h'), ofRange('6h'), ofRange('30d')]).toEqual([
      { interval: 'minutely' },
      { interval: 'daily' },
      { interval: 'daily' },
    ]);
    expect(find(endpoint, { interval: 'hourly' }).values).toEqual({ interval: 'hourly' });
  });
});

describe('the chart of a panel', () => {
  const chart = (fields: Partial<ChartView>): ChartView => ({
    ...{ show: 'line', title: null, time: 'at', series: null, values: ['n'], unit: null },
    ...{ band: [], bad: [], top: null, thresholds: [] },
    ...fields,
  });
  const columns = ['at', 'path', 'n', 'ms'].map((name) => ({
    name,
    type: 'integer',
    description: '',
    search: null,
  }));
  const find = (charts: ChartView[], panel: Partial<Parameters<typeof findPanelChart>[1]>) =>
    findPanelChart(
      { columns, charts, bucket: null } as unknown as EndpointView,
      { show: null, title: null, columns: [], unit: null, ...panel },
      [],
    );
  const COUNTS = chart({ title: 'Counts', values: ['n'], bad: ['n'] });
  const TIMES = chart({ title: 'Times', values: ['ms'], unit: 'ms', band: ['n', 'at'] });

  test('is that of its endpoint, or the one that has its columns', () => {
    expect(find([COUNTS, TIMES], {})).toEqual(COUNTS);
    expect(find([COUNTS, TIMES], { columns: ['ms'] })).toEqual({ ...TIMES, band: [] });
    const own = { show: 'bar', title: 'Own', unit: 'req' } as const;
    expect(find([COUNTS, TIMES], own)).toEqual({ ...COUNTS, ...own });
    expect(find([COUNTS], { show: 'table' })).toMatchObject({ show: 'table', values: [] });
  });

  test('is a number without series, and needs no time that the answer does not have', () => {
    const bySeries = chart({ series: 'path' });
    expect(find([bySeries], { show: 'number' })).toMatchObject({ show: 'number', series: null });
    const bars = chart({ show: 'bar', time: null, series: 'path' });
    expect(find([bars], { show: 'line' })).toMatchObject({ show: 'bar' });
    expect(find([], { show: 'line', columns: ['n'] })).toMatchObject({ show: 'table', values: ['n'] });
  });
});

test('the address of a dashboard has its range, refresh and values, and reads back', () => {
  const address = {
    range: { kind: 'last', range: '7d' },
    refresh: 30,
    isEdited: true,
    values: { project: 'aurora', other: '' },
  } as const;
  const text = formatAddress(address);
  expect(text).toBe('project=aurora&other=&ui.range=7d&ui.refresh=30&ui.edit=1');
  expect(parseAddress(text, ['project', 'other'])).toEqual(address);
  const absolute = { kind: 'absolute', from: '2026-11-20T07:00:00Z', until: '2026-11-20T08:00:00Z' } as const;
  expect(parseAddress(formatAddress({ ...address, range: absolute }), ['project']).range).toEqual(absolute);
  expect(parseAddress('ui.range=soon&ui.refresh=1&x=1', ['project'])).toEqual({
    range: undefined,
    refresh: undefined,
    isEdited: false,
    values: {},
  });
  expect([60, 7200, 86_400].map(toRange)).toEqual(
    ['1m', '2h', '24h'].map((range) => ({ kind: 'last', range })),
  );
});
