import { describe, expect, test } from 'vitest';
import { isLog } from '../../console/src/page/endpoint/shape.ts';
import type { AnswerRange } from '../../console/src/ui/chart/answer-range.ts';
import { type Chart, findPlace, findSelection } from '../../console/src/ui/chart/chart.ts';
import { toDrawing } from '../../console/src/ui/chart/draw.ts';
import { toSeconds } from '../../console/src/ui/chart/grid.ts';
import { chartsOf, findTimes } from '../../console/src/ui/chart/guess.ts';
import { labelsOf, titleOf } from '../../console/src/ui/chart/label.ts';
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

  test('has durations as lines with gaps in their unit, before a band', () => {
    const names = ['p99', 'p95', 'avg', 'min', 'max'].map((part) => `${part}_execution_time`);
    const columns = [column('at'), ...names.map((name) => column(name, 'number'))];
    const row = (hour: number) => ({ hour, ...Object.fromEntries(names.map((name, i) => [name, i * 1000])) });
    const fields = { values: names.slice(0, 3), band: names.slice(3), unit: 'ms' };
    const drawn = drawTime(fields, { columns, rows: hours(row(0), row(1), row(3)) });
    expect(drawn.series.map(({ label, kind, bandTo }) => [label, kind, bandTo])).toEqual([
      ['Max', 'range', 4],
      ['p99', 'line', undefined],
      ['p95', 'line', undefined],
      ['Avg', 'line', undefined],
      ['Min', 'range', undefined],
    ]);
    expect(drawn.series[0]?.values).toEqual([4000, 4000, null, 4000]);
    expect(drawn.format(1500)).toBe('1.5 s');
    expect(drawn.summary([1, 20, null])).toBe('20 ms last');
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

  test('draws one series that would be left over instead of “1 others”', () => {
    const columns = [column('at'), column('path', 'string'), column('n')];
    const rows = hours({ hour: 0, path: 'a', n: 2 }, { hour: 0, path: '', n: 1 });
    const { series } = drawTime({ series: 'path', values: ['n'], top: 1 }, { columns, rows });
    expect(series.map(({ label }) => label)).toEqual(['a', 'empty']);
  });

  test('joins rows of one time: counts are added, of other values it has the greatest', () => {
    const columns = [column('at'), column('n'), column('ms', 'number')];
    const rows = hours({ hour: 0, n: 1, ms: 5 }, { hour: 0, n: 2, ms: 4 });
    const { series } = drawTime({ values: ['n', 'ms'] }, { columns, rows });
    expect(series.map(({ values }) => values)).toEqual([[3], [5]]);
  });

  test('stacks areas, and the bars of several series', () => {
    const columns = [column('at'), column('a'), column('b')];
    const rows = hours({ hour: 0, a: 1, b: 2 }, { hour: 1, a: 1, b: 2 });
    const stacked = (fields: Partial<ChartView>) => drawTime(fields, { columns, rows }).stacked;
    expect(stacked({ show: 'stacked', values: ['a', 'b'] })).toBe(true);
    expect(stacked({ show: 'bar', values: ['a', 'b'] })).toBe(true);
    expect(stacked({ show: 'bar', values: ['a'] })).toBe(false);
    expect(stacked({ values: ['a', 'b'] })).toBe(false);
  });

  test('has its thresholds with their unit', () => {
    const columns = [column('at'), column('ms', 'number')];
    const { thresholds } = drawTime(
      {
        values: ['ms'],
        unit: 'ms',
        thresholds: [
          { is: 'above', value: 1000, severity: 'warning', label: 'slow' },
          { is: 'below', value: 1, severity: 'critical', label: null },
        ],
      },
      { columns, rows: hours({ hour: 0, ms: 1 }) },
    );
    expect(thresholds).toEqual([
      { value: 1000, label: 'slow: above 1 s', color: 'warn' },
      { value: 1, label: 'below 1 ms', color: 'bad' },
    ]);
  });

  test('keeps the times as they are if they lie on no even grid', () => {
    const rows = [0, 2, 7].map((second) => ({ at: second * 1e6, n: 1 }));
    const drawn = drawTime({ values: ['n'] }, { columns: [column('at'), column('n')], rows });
    expect(startsOf(drawn)).toEqual([0, 2, 7]);
    expect(drawn.spans.map(({ until }) => until)).toEqual([2, 7, 9]);
  });

  test('has buckets of the width that the endpoint declares, even if few have rows', () => {
    const columns = [column('at'), column('n')];
    const range: AnswerRange = { from: 0, until: 20_000, widthSeconds: 3600 };
    const rows = hours({ hour: 1, n: 1 }, { hour: 4, n: 1 });
    const one = rows.slice(0, 1);
    const spansOf = (drawn: Omit<Drawn, 'columns'>) =>
      drawTime({ values: ['n'] }, { columns, ...drawn }).spans;
    expect(spansOf({ rows, range }).map(({ from }) => from)).toEqual([3600, 7200, 10_800, 14_400]);
    expect(spansOf({ rows: one, range })).toEqual([{ from: 3600, until: 7200 }]);
    expect(spansOf({ rows: one })).toEqual([{ from: 3600, until: 3600 }]);
    const unknown = { ...range, widthSeconds: undefined };
    expect(spansOf({ rows: one, range: unknown })).toEqual([{ from: 3600, until: 20_000 }]);
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

describe('a chart without a time', () => {
  const columns = [column('path', 'string'), column('failures')];
  const rows = [1, 2, 3].map((failures) => ({ path: `/${failures}`, failures }));

  test('has a bar for each value, and marks those beyond a threshold', () => {
    const thresholds = [{ is: 'above', value: 2, severity: 'critical', label: null }] as const;
    const drawing = toDrawing(
      chart({ show: 'bar', series: 'path', values: ['failures'], thresholds: [...thresholds] }),
      { columns, rows },
    );
    expect(drawing).toEqual({
      kind: 'bars',
      title: 'Failures by path',
      bars: [
        { label: '/3', value: 3, text: '3', color: 'data-bad', note: 'above 2' },
        { label: '/2', value: 2, text: '2', color: 'data-1', note: undefined },
        { label: '/1', value: 1, text: '1', color: 'data-1', note: undefined },
      ],
    });
  });

  test('shows numbers: the sum of counts, else the newest value with its trend', () => {
    const numbersOf = (fields: Partial<ChartView>, drawn: Drawn) => {
      const drawing = toDrawing(chart({ show: 'number', ...fields }), drawn);
      return drawing.kind === 'number' ? drawing.numbers : [];
    };
    expect(numbersOf({ values: ['failures'] }, { columns, rows })).toEqual([
      { label: 'Failures', text: '6', note: 'in all', tone: undefined, trend: [] },
    ]);
    const ms = [column('at'), column('ms', 'number')];
    const thresholds = [{ is: 'above', value: 5, severity: 'warning', label: 'slow' } as const];
    const series = hours({ hour: 1, ms: 9 }, { hour: 0, ms: 4 });
    expect(
      numbersOf({ time: 'at', values: ['ms'], unit: 'ms', thresholds }, { columns: ms, rows: series }),
    ).toEqual([{ label: 'Ms', text: '9 ms', note: 'slow: above 5 ms', tone: 'warn', trend: [4, 9] }]);
    expect(numbersOf({ values: ['ms'], unit: 'req/s' }, { columns: ms, rows: [] })).toMatchObject([
      { text: '–', note: undefined },
    ]);
  });

  test('is a table of its columns, or of all', () => {
    const tableOf = (values: string[]) => toDrawing(chart({ show: 'table', values }), { columns, rows });
    expect(tableOf(['failures'])).toMatchObject({ kind: 'table', columns: [{ name: 'failures' }] });
    expect(tableOf([])).toMatchObject({ columns });
  });
});

describe('titles and labels', () => {
  test('are the words that columns share, and those that they do not', () => {
    const totals = ['total_rest_requests', 'total_auth_requests'];
    expect(titleOf(chart({ values: totals }), [])).toBe('Total requests');
    expect(labelsOf(totals)).toEqual(['Rest', 'Auth']);
    expect(labelsOf(['count', 'error_count'])).toEqual(['Count', 'Error count']);
    expect(titleOf(chart({ values: ['count', 'error_count'] }), [])).toBe('Count and error count');
    expect(titleOf(chart({ values: ['a', 'b', 'c'] }), [])).toBe('A, b and 1 more');
  });

  test('of one column is what it describes, and names the unit that values do not have', () => {
    const columns = [column('at'), column('n', 'integer', 'Requests of the hour. At the gateway.')];
    expect(titleOf(chart({ values: ['n'] }), columns)).toBe('Requests of the hour');
    expect(titleOf(chart({ values: ['n'], title: 'Load' }), columns)).toBe('Load');
    expect(drawTime({ values: ['n'], unit: 'req/s' }, { columns, rows: [] }).title).toBe(
      'Requests of the hour, req/s',
    );
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

  test('has a series for each text if a time has several rows, and no chart if rows are still alike', () => {
    const columns = [column('at'), column('path', 'string'), column('n')];
    const row = (path: string) => ({ at: MICROS, path, n: 1 });
    expect(chartsOf(shape(columns), [row('/a'), row('/b')])).toMatchObject([
      { series: 'path', values: ['n'] },
    ]);
    expect(chartsOf(shape(columns), [row('/a'), row('/a')])).toEqual([]);
  });

  test('has no chart without a time, a number or two rows', () => {
    expect(chartsOf(shape([column('n')]), [{ n: 1 }])).toEqual([]);
    expect(chartsOf(shape([column('at')]), [{ at: MICROS }])).toEqual([]);
    expect(chartsOf(shape([column('at'), column('n')]), [])).toEqual([]);
    expect(chartsOf(shape([column('at'), column('n')]), [{ at: MICROS, n: 1 }])).toEqual([]);
  });
});

test('log entries are recognised by their columns', () => {
  const log = ['id', 'timestamp', 'event_message', 'metadata'].map((name) => column(name));
  expect([isLog(log), isLog(log.slice(1))]).toEqual([true, false]);
});

test('both kinds of timestamp are the same instant; another value is none', () => {
  expect(toSeconds('2026-11-20T07:00:00')).toBe(toSeconds(Date.UTC(2026, 10, 20, 7) * 1000));
  expect(toSeconds('2026-11-20')).toBe(Date.UTC(2026, 10, 20) / 1000);
  expect([toSeconds('soon'), toSeconds(null), toSeconds({})]).toEqual([Number.NaN, Number.NaN, Number.NaN]);
});

test('charts of other spans share an instant and a stretch of time', () => {
  const spans = [0, 10, 20].map((from) => ({ from, until: from + 10 }));
  expect([findPlace(spans, 15), findPlace(spans, 30), findPlace(spans, -1), findPlace(spans, null)]).toEqual([
    1,
    null,
    null,
    null,
  ]);
  expect(findPlace([{ from: 5, until: 5 }], 5)).toBe(0);
  expect(findSelection(spans, { from: 5, until: 30 })).toEqual({ first: 1, last: 2 });
  expect(findSelection(spans, { from: 11, until: 19 })).toBeUndefined();
  expect(findSelection(spans, undefined)).toBeUndefined();
});
