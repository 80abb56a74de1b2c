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
