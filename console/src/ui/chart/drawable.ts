import type { ChartView, EndpointView } from '../../../../src/management/view.ts';
import type { Row } from '../../api/answer.ts';
import type { Span } from '../../format/range.ts';
import { ownMember, type Values } from '../../format/values.ts';
import type { Chart } from './chart.ts';
import { type Columns, findBounds, PLAIN } from './rule.ts';

type Shaped = Pick<EndpointView, 'charts' | 'columns'>;

const CHARTS_MAX = 6;

/** The charts of an answer: those of the endpoint; without any a line for each number over the time that the values show, from two rows on. */
export function chartsOf({ charts, columns }: Shaped, rows: readonly Row[]): ChartView[] {
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
export function findTimes({ charts, columns }: Shaped, rows: readonly Row[]): Set<string> {
  const named = [...charts.map(({ time }) => time), findTime(columns, rows)];
  return new Set(named.flatMap((name) => name ?? []));
}

export type Drawable = ReturnType<typeof toDrawable>;

/** An answer with what its charts and tables need to know of it. @param atMs see `findAnswerRange` */
export function toDrawable(
  called: Shaped & Called,
  values: Values,
  { rows, atMs }: { readonly rows: readonly Row[]; readonly atMs: number },
) {
  return {
    ...{ rows, columns: called.columns },
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

export type Drawn = Pick<Drawable, 'columns' | 'rows'> & Partial<Pick<Drawable, 'range'>>;

/** What an answer covers, in seconds since the epoch; undefined: not known. */
type AnswerRange = ReturnType<typeof findAnswerRange>;

type Called = Pick<EndpointView, 'parameters'>;

/** By parameters of type timestamp with such names. @param atMs instant of the answer's query, ms since the epoch */
export function findAnswerRange({ parameters }: Called, values: Values, atMs: number) {
  const textOf = (name: string) =>
    ownMember(values, name) || (parameters.find((one) => one.name === name)?.default ?? '');
  const bounds = findBounds(parameters);
  const boundOf = (side: keyof typeof bounds) => {
    const name = bounds[side];
    const seconds = name === undefined ? Number.NaN : parseTime(textOf(name));
    return Number.isNaN(seconds) ? undefined : seconds;
  };
  const now = atMs / 1000;
  const until = Math.min(boundOf('until') ?? now, now);
  return {
    from: boundOf('from'),
    until,
    /** Whether it ends at the instant of the query. */
    isOpen: until === now,
  };
}

/** Seconds since the epoch. Without a zone it is UTC, as the service reads it. */
function parseTime(text: string): number {
  const hasZone = /(?:Z|[+-]\d\d(?::?\d\d)?)$/i.test(text);
  return Date.parse(hasZone || text.length <= 'YYYY-MM-DD'.length ? text : `${text}Z`) / 1000;
}

/** The spans of which the answer has only a part, by their places: they begin before its range, or end after it. */
function findPartial(spans: readonly Span[], { from, until, isOpen }: AnswerRange): Chart['partial'] {
  const partial = new Map<number, 'so far' | 'partial'>();
  for (const [i, span] of spans.entries()) {
    if (span.until > until) partial.set(i, isOpen ? 'so far' : 'partial');
    else if (span.from < (from ?? span.from)) partial.set(i, 'partial');
  }
  return partial;
}

/** Seconds since the epoch, of microseconds or of a text in ISO 8601, UTC without a zone. NaN: it is neither. */
export function toSeconds(value: unknown): number {
  if (typeof value === 'string') return parseTime(value);
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) / 1e6 : Number.NaN;
}

const POINTS_MAX = 5_000;

export type Grid = ReturnType<typeof toGrid>;

/** Fills in empty buckets. Their width is the least distance of two rows; a single row is of all the rest of the range. */
export function toGrid(seconds: readonly number[], range: AnswerRange | undefined) {
  const sorted = [...new Set(seconds)].filter(Number.isFinite).sort((a, b) => a - b);
  const [first = 0] = sorted;
  const end = sorted.at(-1) ?? 0;
  const width = Math.min(...sorted.slice(1).map((second, i) => second - (sorted[i] ?? 0)));
  const hasWidth = Number.isFinite(width);
  const count = hasWidth ? Math.round((end - first) / width) + 1 : sorted.length;
  const isEven = hasWidth && sorted.every((second) => Math.abs(((second - first) / width) % 1) < 1e-6);
  const isFilled = isEven && count <= POINTS_MAX && sorted.length > 1;
  const times = isFilled ? Array.from({ length: count }, (_, i) => first + i * width) : sorted;
  const spans = times.map((from, i): Span => {
    const next = isEven ? undefined : times[i + 1];
    const until = hasWidth ? from + width : Math.max(from, range?.until ?? from);
    return { from, until: next ?? until };
  });
  const partial: Chart['partial'] = range === undefined ? new Map() : findPartial(spans, range);
  return {
    spans,
    partial,
    /** Whether the spans have one width. */
    isEven,
    /** Places by the start of a span, in seconds. */
    placeOf: new Map(times.map((time, place) => [time, place])),
  };
}
