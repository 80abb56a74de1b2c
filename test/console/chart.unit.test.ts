import { describe, expect, test } from 'vitest';
import type { Chart } from '../../console/src/ui/chart/chart.ts';
import { toDrawing } from '../../console/src/ui/chart/draw.ts';
import { chartsOf, findAnswerRange, findTimes } from '../../console/src/ui/chart/drawable.ts';
import type { ChartView } from '../../src/management/view.ts';
import { createParameterView } from '../support/parameter-view.ts';

const column = (
  name: string,
  type: 'integer' | 'number' | 'string' | 'json' = 'integer',
  description = '',
  search: string | null = null,
) => ({ name, type, description, search });
const chart = (fields: Partial<ChartView>): ChartView => ({
  ...{ show: 'line', title: null, time: null, series: null, values: [], unit: null },
  ...{ band: [], bad: [], top: null, thresholds: [] },
  ...fields,
});

const HOUR_MICROS = 3_600_000_000;
const hours = (...rows: Readonly<Record<string, unknown>>[]) =>
  rows.map(({ hour, ...row }) => ({ at: Number(hour) * HOUR_MICROS, ...row }));

type Drawn = Parameters<typeof toDrawing>[1];

function drawTime(fields: Partial<ChartView>, drawn: Drawn): Chart {
  const drawing = toDrawing(chart({ time: 'at', ...fields }), drawn);
  if (drawing.kind !== 'time') throw new Error(`a drawing over time was expected, not ${drawing.kind}`);
  return drawing.chart;
}
const startsOf = ({ spans }: Chart) => spans.map(({ from }) => from);

describe('a chart over time', () => {
  test('has counts as bars, with 0 where a bucket is not returned, and failures in their colour', () => {
    const columns = [column('at'), column('ok'), column('failed', 'integer', '', 'level:error')];
    const rows = hours(...[0, 1, 4].map((hour) => ({ hour, ok: 5, failed: 1 })));
    const drawn = drawTime({ values: ['ok', 'failed'], bad: ['failed'] }, { columns, rows });
    expect(startsOf(drawn)).toEqual([0, 3600, 7200, 10_800, 14_400]);
    expect(drawn.spans[4]).toEqual({ from: 14_400, until: 18_000 });
    expect(drawn.series).toEqual([
      { label: 'Ok', color: 'data-1', kind: 'bar', search: undefined, values: [5, 5, 0, 0, 5] },
      { label: 'Failed', color: 'data-bad', kind: 'bar', search: 'level:error', values: [1, 1, 0, 0, 1] },
    ]);
    expect(drawn.stacked).toBe(false); // failures are among all
    expect(drawn.summary(drawn.series[0]?.values ?? [])).toBe('15 in all');
  });

  const columns = [column('at'), column('n'), column('ms', 'number'), column('path', 'string')];
  const even = [0, 1, 2, 4].map((hour) => ({ hour, n: 3, ms: 0.5, path: '/rest' }));
  const uneven = [0, 0.7, 2, 4.3].map((hour) => ({ hour, n: 3, ms: 0.5, path: '/rest' }));
  test.each<readonly [string, Partial<ChartView>, Parameters<typeof hours>, string, boolean]>([
    ['counts in buckets', { values: ['n'] }, even, 'bar', false],
    ['counts in buckets that are parts', { values: ['n'], show: 'stacked' }, even, 'bar', true],
    ['counts in buckets by a column', { values: ['n'], series: 'path' }, even, 'bar', true],
    ['averages', { values: ['ms'] }, even, 'line', false],
    ['durations, whole numbers', { values: ['n'], unit: 'ms' }, even, 'line', false],
    ['counts beside averages', { values: ['n', 'ms'] }, even, 'line', false],
    ['counts at any times', { values: ['n'] }, uneven, 'area', false],
    ['averages as bars, as the definition says', { values: ['ms'], show: 'bar' }, even, 'bar', true],
  ])('draws %s', (_name, fields, rows, kind, stacked) => {
    const drawn = drawTime(fields, { columns, rows: hours(...rows) });
    expect([...new Set(drawn.series.map((one) => one.kind))]).toEqual([kind]);
    expect(drawn.stacked).toBe(stacked);
  });

  test('marks the bucket that is not over, and those that the range cuts', () => {
    const time = { type: 'timestamp', control: 'time' } as const;
    const parameters = ['from', 'until'].map((name) => createParameterView(name, time));
    const partialAt = (hour: number, end = '') => {
      const values = { from: '1970-01-01T00:30:00', until: end };
      const range = findAnswerRange({ parameters }, values, hour * 3_600_000);
      const drawn = drawTime({ values: ['n'] }, { columns, rows: hours(...even.slice(0, 3)), range });
      return Object.fromEntries(drawn.partial ?? []);
    };
    expect(partialAt(2.5)).toEqual({ 0: 'partial', 2: 'so far' });
    expect(partialAt(3)).toEqual({ 0: 'partial' });
    expect(partialAt(4, '1970-01-01T02:30:00')).toEqual({ 0: 'partial', 2: 'partial' });
  });
});

test('an endpoint without a chart has a line for each number over the column whose values are times, by any name', () => {
  const MICROS = Date.UTC(2026, 10, 20) * 1000;
  const shape = (columns: ReturnType<typeof column>[]) => ({ columns, charts: [] });
  const columns = [column('day', 'string'), column('n'), column('ms', 'number')];
  const rows = ['2026-11-20', '2026-11-21'].map((day) => ({ day, n: 7, ms: 0.5 }));
  expect(chartsOf(shape(columns), rows).map(({ time, values }) => [time, values])).toEqual([
    ['day', ['n']],
    ['day', ['ms']],
  ]);
  const micros = [column('n'), column('began')];
  const two = [MICROS, MICROS + 1].map((began) => ({ n: 5, began }));
  expect(chartsOf(shape(micros), two)).toMatchObject([{ time: 'began', values: ['n'] }]);
  expect(findTimes(shape(micros), [{ n: 5, began: MICROS }])).toEqual(new Set(['began']));
});
