import { describe, expect, test } from 'vitest';
import type { Chart } from '../../console/src/ui/chart/chart.ts';
import { toDrawing } from '../../console/src/ui/chart/draw.ts';
import { chartsOf, findTimes } from '../../console/src/ui/chart/guess.ts';
import type { ChartView } from '../../src/management/view.ts';

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
  test('has counts as areas, with 0 where a bucket is not returned, and failures in their colour', () => {
    const columns = [column('at'), column('ok'), column('failed', 'integer', '', 'level:error')];
    const rows = hours(
      { hour: 0, ok: 5, failed: 1 },
      { hour: 1, ok: 5, failed: 1 },
      { hour: 4, ok: 5, failed: 1 },
    );
    const drawn = drawTime({ values: ['ok', 'failed'], bad: ['failed'] }, { columns, rows });
    expect(startsOf(drawn)).toEqual([0, 3600, 7200, 10_800, 14_400]);
    expect(drawn.spans[4]).toEqual({ from: 14_400, until: 18_000 });
    expect(drawn.series).toEqual([
      { label: 'Ok', color: 'data-1', kind: 'area', search: undefined, values: [5, 5, 0, 0, 5] },
      { label: 'Failed', color: 'data-bad', kind: 'area', search: 'level:error', values: [1, 1, 0, 0, 1] },
    ]);
    expect(drawn.summary(drawn.series[0]?.values ?? [])).toBe('15 in all');
  });

  test('has a series for each value of a column, the greatest first, the rest as one', () => {
    const columns = [column('at'), column('path', 'string', '', 'request.path:*'), column('n')];
    const rows = hours(
      ...[1, 2, 3, 4, 5].map((n) => ({ hour: 0, path: `/${n}`, n })),
      { hour: 1, path: '/1', n: 1 },
      { hour: 1, path: '/2', n: 1 },
      { hour: 1, path: null, n: 1 },
    );
    const drawn = drawTime({ series: 'path', values: ['n'], top: 3, bad: ['/4'] }, { columns, rows });
    expect(drawn.series.map(({ label, color, values, search }) => [label, color, values, search])).toEqual([
      ['/5', 'data-1', [5, 0], 'request.path:/5'],
      ['/4', 'data-bad', [4, 0], 'request.path:/4'],
      ['/2', 'data-2', [2, 1], 'request.path:/2'],
      ['3 others', 'data-other', [4, 2], undefined],
    ]);
    const least = drawTime({ series: 'path', values: ['n'], top: 3, unit: 'ms' }, { columns, rows });
    expect(least.series.at(-1)).toMatchObject({ label: '3 others, greatest', values: [2, 1] });
  });

  test('marks the buckets of which the answer has only a part', () => {
    const columns = [column('at'), column('n')];
    const rows = hours({ hour: 0, n: 1 }, { hour: 1, n: 1 }, { hour: 2, n: 1 });
    const partialOf = (from: number | undefined, until: number) =>
      drawTime({ values: ['n'] }, { columns, rows, range: { from, until, widthSeconds: undefined } }).partial;
    expect(partialOf(1, 10_000)).toEqual([0, 2]);
    expect(partialOf(0, 10_800)).toEqual([]);
    expect(partialOf(undefined, 10_799)).toEqual([2]);
  });
});

describe('an endpoint without a chart', () => {
  const MICROS = Date.UTC(2026, 10, 20) * 1000;
  const shape = (columns: ReturnType<typeof column>[]) => ({ columns, charts: [], bucket: null });

  test('has a line for each number over the column whose values are times, by any name', () => {
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
});
