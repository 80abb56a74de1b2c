import { describe, expect, test } from 'vitest';
import {
  hasOneRowPerTime,
  isDrawable,
  isLog,
  toCharts,
  toSeconds,
} from '../../console/src/page/endpoint/shape.ts';

const column = (
  name: string,
  type: 'integer' | 'number' | 'string' | 'json' = 'integer',
  description = '',
) => ({
  name,
  type,
  description,
});
const HOUR_MICROS = 3_600_000_000;
const startsOf = (chart: { spans: readonly { from: number }[] } | undefined) =>
  chart?.spans.map(({ from }) => from);

describe('the charts of an answer', () => {
  test('have counts and errors as areas, with 0 where a bucket is not returned', () => {
    const columns = [column('timestamp'), column('count'), column('error_count')];
    const rows = [0, 1, 4].map((hour) => ({ timestamp: hour * HOUR_MICROS, count: 5, error_count: 1 }));
    const [chart, ...others] = toCharts(columns, rows);
    expect(others).toEqual([]);
    expect(startsOf(chart)).toEqual([0, 3600, 7200, 10_800, 14_400]);
    expect(chart?.spans[4]).toEqual({ from: 14_400, until: 18_000 });
    expect(chart?.series.map((one) => one.values)).toEqual([
      [5, 5, 0, 0, 5],
      [1, 1, 0, 0, 1],
    ]);
    expect(chart?.summary(chart.series[0]?.values ?? [])).toBe('15 in all');
  });

  test('have the parts of one quantity as bands from the top down, with gaps, in its unit', () => {
    const ms = 'In milliseconds.';
    const columns = [
      column('timestamp'),
      ...['min', 'max', 'avg', 'p95', 'p99'].map((part) => column(`${part}_execution_time`, 'number', ms)),
    ];
    const row = (hour: number) => ({
      timestamp: hour * HOUR_MICROS,
      ...Object.fromEntries(columns.slice(1).map(({ name }, i) => [name, i * 1000])),
    });
    const [chart] = toCharts(columns, [row(0), row(1), row(3)]);
    expect(chart?.title).toBe('Execution time');
    expect(chart?.series.map((one) => one.label)).toEqual(['Max', 'p99', 'p95', 'Average', 'Min']);
    expect(chart?.series.map((one) => one.bandTo)).toEqual([undefined, 2, 3, undefined, undefined]);
    expect(chart?.series[0]?.values).toEqual([1000, 1000, null, 1000]);
    expect(chart?.format(1500)).toBe('1.5 s');
  });

  test('have totals as areas on top of one another, and what is left as lines', () => {
    const columns = [
      column('timestamp', 'string'),
      column('total_rest_requests'),
      column('total_auth_requests'),
      column('depth', 'number'),
    ];
    const rows = [
      { timestamp: '2026-11-20T07:00:00', total_rest_requests: 1, total_auth_requests: 2, depth: 0.5 },
    ];
    const charts = toCharts(columns, rows);
    expect(charts.map((chart) => [chart.title, chart.stacked === true])).toEqual([
      ['Requests by area', true],
      ['Depth', false],
    ]);
    expect(charts[0]?.series.map((one) => one.label)).toEqual(['Rest', 'Auth']);
    expect(startsOf(charts[0])).toEqual([Date.UTC(2026, 10, 20, 7) / 1000]);
  });

  test('keep the times as they are where they lie on no even grid', () => {
    const columns = [column('timestamp'), column('n')];
    const rows = [0, 2, 7].map((second) => ({ timestamp: second * 1e6, n: 1 }));
    const [chart] = toCharts(columns, rows);
    expect(startsOf(chart)).toEqual([0, 2, 7]);
    expect(chart?.spans.map(({ until }) => until)).toEqual([2, 7, 9]);
  });

  test('have buckets of the width that the endpoint declares, also if few have rows', () => {
    const columns = [column('timestamp'), column('n')];
    const range = { from: 0, until: 20_000, widthSeconds: 3600 };
    const rows = [1, 4].map((hour) => ({ timestamp: hour * HOUR_MICROS, n: 1 }));
    expect(startsOf(toCharts(columns, rows, range)[0])).toEqual([3600, 7200, 10_800, 14_400]);
    expect(toCharts(columns, rows.slice(0, 1), range)[0]?.spans).toEqual([{ from: 3600, until: 7200 }]);
    expect(toCharts(columns, rows.slice(0, 1))[0]?.spans).toEqual([{ from: 3600, until: 3600 }]);
    const unknown = { ...range, widthSeconds: undefined };
    expect(toCharts(columns, rows.slice(0, 1), unknown)[0]?.spans).toEqual([{ from: 3600, until: 20_000 }]);
  });

  test('say which buckets the answer has only a part of', () => {
    const columns = [column('timestamp'), column('n')];
    const rows = [0, 1, 2].map((hour) => ({ timestamp: hour * HOUR_MICROS, n: 1 }));
    const partialOf = (from: number | undefined, until: number) =>
      toCharts(columns, rows, { from, until, widthSeconds: undefined })[0]?.partial;
    expect(partialOf(1, 10_000)).toEqual([0, 2]);
    expect(partialOf(0, 10_800)).toEqual([]);
    expect(partialOf(undefined, 10_799)).toEqual([2]);
    expect(toCharts(columns, rows)[0]?.partial).toEqual([]);
  });

  test('have the searches of their columns', () => {
    const columns = [
      column('timestamp'),
      column('count'),
      { ...column('error_count'), search: 'level:error' },
      { ...column('total_rest'), search: 'is_rest:true' },
      { ...column('depth'), search: null },
    ];
    const rows = [{ timestamp: 0, count: 1, error_count: 1, total_rest: 1, depth: 1 }];
    expect(toCharts(columns, rows).flatMap(({ series }) => series.map(({ search }) => search))).toEqual([
      undefined,
      'level:error',
      'is_rest:true',
      undefined,
    ]);
  });

  test('are none without a time', () => {
    expect(toCharts([column('n')], [{ n: 1 }])).toEqual([]);
    expect(isDrawable([column('n')])).toBe(false);
  });
});

test('log entries are told by their columns', () => {
  const log = [
    column('id', 'string'),
    column('timestamp'),
    column('event_message', 'string'),
    column('metadata', 'json'),
  ];
  expect([isLog(log), isDrawable(log), isLog(log.slice(1))]).toEqual([true, false, false]);
});

test('both kinds of timestamp are the same instant', () => {
  expect(toSeconds('2026-11-20T07:00:00')).toBe(toSeconds(Date.UTC(2026, 10, 20, 7) * 1000));
});

test('rows of the same time, such as one for each path, are not drawn on top of one another', () => {
  const columns = [column('timestamp'), column('path', 'string'), column('count')];
  const row = (timestamp: number, path: string) => ({ timestamp, path, count: 1 });
  expect(hasOneRowPerTime(columns, [row(1, '/a'), row(2, '/a')])).toBe(true);
  expect(hasOneRowPerTime(columns, [row(1, '/a'), row(1, '/b')])).toBe(false);
});
