import type { ChartView, EndpointView } from '../../../../src/management/view.ts';
import type { Row } from '../../api/answer.ts';
import { ownMember } from '../../format/own.ts';
import { type Columns, findAnswerRange, toSeconds } from './answer-range.ts';
import { PLAIN } from './panel-chart.ts';

const CHARTS_MAX = 6;

/** The charts of an answer: those of the endpoint; without any a line for each number over the time that the values show, from two rows on. */
export function chartsOf(
  { charts, columns }: Pick<EndpointView, 'charts' | 'columns'>,
  rows: readonly Row[],
): ChartView[] {
  if (charts.length > 0) return charts;
  const time = findTime(columns, rows);
  if (time === undefined || rows.length < 2) return [];
  const numbers = columns.filter(
    ({ name, type }) => name !== time && (type === 'integer' || type === 'number'),
  );
  const series = findSeries(columns, rows, time);
  if (series === undefined) return [];
  return numbers.slice(0, CHARTS_MAX).map(({ name }) => ({ ...PLAIN, time, series, values: [name] }));
}

/** Names of the columns whose values are times, for tables. */
export function findTimes(
  { charts, columns }: Parameters<typeof chartsOf>[0],
  rows: readonly Row[],
): Set<string> {
  const named = [...charts.map(({ time }) => time), findTime(columns, rows)];
  return new Set(named.flatMap((name) => name ?? []));
}

export type Drawable = ReturnType<typeof toDrawable>;

/** What an endpoint and its answer say of how its rows are drawn. */
export function toDrawable(
  called: Pick<EndpointView, 'charts' | 'columns' | 'parameters'>,
  { values, rows, atMs }: { values: Readonly<Record<string, string>>; rows: readonly Row[]; atMs: number },
) {
  return {
    columns: called.columns,
    charts: chartsOf(called, rows),
    times: findTimes(called, rows),
    range: findAnswerRange(called, values, atMs),
  };
}

// From 2001 to 2100: counts of this size are rare, and other units of time are not in it.
const MICROS_MIN = 1e15;
const MICROS_MAX = 4.1e15;
const ISO = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d|$)/;
const ROWS_READ_MAX = 100;

/** The first column in which every value is a time. */
function findTime(columns: Columns, rows: readonly Row[]): string | undefined {
  const some = rows.slice(0, ROWS_READ_MAX);
  return columns.find(
    ({ name, type }) =>
      (type === 'integer' || type === 'string') &&
      some.length > 0 &&
      some.every((row) => isTime(ownMember(row, name))),
  )?.name;
}

function isTime(value: unknown): boolean {
  if (typeof value === 'string') return ISO.test(value) && Number.isFinite(toSeconds(value));
  return Number(value) >= MICROS_MIN && Number(value) <= MICROS_MAX;
}

/** @returns null: each time has one row; a column of texts of which each time has one row for each value; undefined: neither */
function findSeries(columns: Columns, rows: readonly Row[], time: string): string | null | undefined {
  const isUnique = (names: readonly string[]) =>
    new Set(rows.map((row) => JSON.stringify(names.map((name) => String(ownMember(row, name)))))).size ===
    rows.length;
  if (isUnique([time])) return null;
  const texts = columns.filter(
    ({ name, type }) => name !== time && (type === 'string' || type === 'boolean'),
  );
  return texts.find(({ name }) => isUnique([time, name]))?.name;
}
