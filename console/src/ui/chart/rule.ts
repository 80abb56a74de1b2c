import type { PanelView } from '../../../../src/management/dashboard-view.ts';
import type { ChartView, EndpointView } from '../../../../src/management/view.ts';
import type { Row } from '../../api/answer.ts';
import { formatBytes, formatMs, formatPercent, formatSeconds, formatShort } from '../../format/show.ts';
import { ownMember } from '../../format/values.ts';

export type Columns = EndpointView['columns'];

export type Rule = ReturnType<typeof ruleOf>;

export function ruleOf({ unit, show }: Pick<ChartView, 'unit' | 'show'>, columns: Columns) {
  const isInteger = (column: string) => columns.find(({ name }) => name === column)?.type === 'integer';
  /** Whether the values of the column add up: counts do, averages and durations do not. */
  const adds = (column: string) => !NOT_SUMMED.has(unit) && (show === 'stacked' || isInteger(column));
  return {
    unit: findUnit(unit),
    adds,
    joinOf: (column: string): Join => (adds(column) ? sum : greatest),
  };
}

type Threshold = ChartView['thresholds'][number];

/** The threshold that a value is beyond, the most severe first. */
export function findThreshold(thresholds: readonly Threshold[], value: number | null): Threshold | undefined {
  if (value === null) return undefined;
  const beyond = thresholds.filter(({ is, value: limit }) =>
    is === 'above' ? value > limit : value < limit,
  );
  return beyond.find(({ severity }) => severity === 'critical') ?? beyond[0];
}

/** `slow: above 1 s` */
export function describeThreshold({ is, value, label }: Threshold, format: Format): string {
  return `${label === null ? '' : `${label}: `}${is} ${format(value)}`;
}

type Format = (value: number) => string;

const MINUTE = 60;
const inSeconds = (value: number) => (value < MINUTE ? formatMs(value * 1000) : formatSeconds(value));

/** docs/endpoint-reference.md lists them. */
const UNITS: ReadonlyMap<string | null, Format> = new Map([
  ['ms', formatMs],
  ['µs', (value) => formatMs(value / 1000)],
  ['s', inSeconds],
  ['bytes', formatBytes],
  ['%', (value) => formatPercent(value / 100)],
  ['ratio', formatPercent],
]);

/** @param name null: numbers without a unit */
export function findUnit(name: string | null) {
  return {
    format: UNITS.get(name) ?? formatShort,
    /** Stands in the title, if `format` does not write it. */
    suffix: UNITS.has(name) ? undefined : (name ?? undefined),
  };
}

/** Joins the values of one place. @returns null: it has none */
export type Join = (values: readonly number[]) => number | null;

export const sum: Join = (values) =>
  values.length === 0 ? null : values.reduce((total, value) => total + value, 0);
const greatest: Join = (values) => (values.length === 0 ? null : Math.max(...values));

interface Group {
  readonly label: string;
  readonly rows: readonly Row[];
}

interface Grouping {
  /** The column that a group is measured by. */
  readonly value: string;
  readonly join: Join;
  readonly top: number;
  /** One that is left over is shown up to this many: "1 other" would take its place. */
  readonly shownMax?: number;
}

/** The rows by the values of a column, the greatest first; those past `top` are one group. */
export function groupRows(rows: readonly Row[], column: string, grouping: Grouping) {
  const { value, join, top, shownMax = Number.POSITIVE_INFINITY } = grouping;
  const groups = [...Map.groupBy(rows, (row) => labelOf(ownMember(row, column)))]
    .map(([label, own]): Group & { weight: number } => {
      return { label, rows: own, weight: join(numbersOf(own, value)) ?? 0 };
    })
    .toSorted((a, b) => b.weight - a.weight || a.label.localeCompare(b.label));
  const isWhole = groups.length === top + 1 && groups.length <= shownMax;
  const shown: readonly Group[] = isWhole ? groups : groups.slice(0, top);
  const rest = groups.slice(shown.length);
  if (rest.length === 0) return { shown };
  const label = `${rest.length} others${join === sum ? '' : ', greatest'}`;
  return { shown, others: { label, rows: rest.flatMap((group) => group.rows) } };
}

function labelOf(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  return value === '' ? 'empty' : String(value);
}

/** The numbers of a column; other values are left out. */
export function numbersOf(rows: readonly Row[], column: string): number[] {
  return rows.flatMap((row) => toNumber(ownMember(row, column)) ?? []);
}

export function toNumber(value: unknown): number | null {
  if (value === null || value === undefined || value === '') return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

const TITLE_CHARS_MAX = 60;

/** The title of a chart: as it says; else what its column's description says, else the words that its columns share. */
export function titleOf(
  chart: Pick<ChartView, 'title' | 'values' | 'series' | 'unit'>,
  columns: Columns,
): string {
  if (chart.title !== null) return chart.title;
  const [name = '', ...others] = chart.values;
  const by = chart.series === null ? '' : ` by ${wordsOf(chart.series).join(' ')}`;
  const shared = sharedWords(chart.values);
  if (others.length > 0) return sentence(shared.length > 0 ? shared : listNames(chart.values));
  const description = columns.find((column) => column.name === name)?.description ?? '';
  const first = (/^[^.]*/.exec(description)?.[0] ?? '').trim();
  const isTitle = first !== '' && first.length <= TITLE_CHARS_MAX && chart.series === null;
  return isTitle ? first : `${sentence(wordsOf(name))}${by}`;
}

/** The names of columns as labels: without the words that begin or end all of them. */
export function labelsOf(names: readonly string[]): string[] {
  const { words, lead, tail, hasOwn } = compareWords(names);
  const isShort = names.length > 1 && hasOwn;
  return words.map((one) => sentence(isShort ? one.slice(lead, one.length - tail) : one));
}

function sharedWords(names: readonly string[]): string[] {
  const { words, lead, tail, hasOwn } = compareWords(names);
  const [first = []] = words;
  return hasOwn ? [...first.slice(0, lead), ...first.slice(first.length - tail)] : [];
}

/** How many words begin and end all names, and whether each has others. */
function compareWords(names: readonly string[]) {
  const words = names.map(wordsOf);
  const [lead, tail] = [countShared(words), countShared(words.map((one) => one.toReversed()))];
  return { words, lead, tail, hasOwn: words.every((one) => one.length > lead + tail) };
}

/** How many first words are the same in all lists. */
function countShared([first = [], ...others]: readonly (readonly string[])[]): number {
  const differs = first.findIndex((word, i) => others.some((other) => other[i] !== word));
  return differs === -1 ? first.length : differs;
}

function listNames(names: readonly string[]): string[] {
  const [first = '', second = '', ...more] = names.map((name) => wordsOf(name).join(' '));
  return [more.length > 0 ? `${first}, ${second} and ${more.length} more` : `${first} and ${second}`];
}

function wordsOf(name: string): string[] {
  return name.split('_').filter((word) => word !== '');
}

/** `p95` stays as it is. */
function sentence(words: readonly string[]): string {
  const text = words.join(' ');
  return /^[a-z]+\d/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

/** A chart that says nothing. */
export const PLAIN: Omit<ChartView, 'time' | 'series' | 'values'> = {
  ...{ show: 'line', title: null, unit: null, band: [], bad: [], top: null, thresholds: [] },
};
const TABLE: ChartView = { ...PLAIN, show: 'table', time: null, series: null, values: [] };

/** The chart of a panel: the first that has its columns, changed as the panel says. @param charts those of its endpoint */
export function toPanelChart(
  charts: readonly ChartView[],
  { columns, show, title, unit }: Pick<PanelView, 'show' | 'title' | 'columns' | 'unit'>,
): ChartView {
  const hasAll = ({ values, band }: ChartView) =>
    columns.every((name) => values.includes(name) || band.includes(name));
  const base = charts.find(hasAll) ?? charts[0] ?? TABLE;
  const own = columns.length > 0;
  const values = own ? [...columns] : show === 'table' ? [] : base.values;
  const chart: ChartView = {
    ...base,
    show: show === null || show === 'text' ? base.show : show,
    title: title ?? (own && columns.join() !== base.values.join() ? null : base.title),
    values,
    unit: unit ?? base.unit,
    band: own ? [] : base.band,
    bad: base.series === null ? base.bad.filter((name) => values.includes(name)) : base.bad,
  };
  return withAxis(chart);
}

/** Replaces a kind that needs a time or a series that the answer does not have. */
function withAxis(chart: ChartView): ChartView {
  const { show, time, series, values } = chart;
  if (show === 'number') return { ...chart, series: null };
  if (show === 'table' || time !== null) return chart;
  const isBar = series !== null && values.length === 1;
  return { ...chart, show: isBar ? 'bar' : 'table' };
}

// Averages and durations have no sum; counts, bytes and numbers of any other unit have one.
const NOT_SUMMED: ReadonlySet<string | null> = new Set(['ms', 'µs', 's', '%', 'ratio']);

const FROM = /(?:^|_)(?:start|from|since|after)$/;
const UNTIL = /(?:^|_)(?:end|until|to|before)$/;

/** The names of the parameters that bound an answer's time, by their type and their names. */
export function findBounds(parameters: EndpointView['parameters']) {
  const find = (pattern: RegExp) =>
    parameters.find(({ name, type }) => type === 'timestamp' && pattern.test(name))?.name;
  return { from: find(FROM), until: find(UNTIL) };
}
