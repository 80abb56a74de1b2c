import { parseLast, rangeParameters, readRange, type TimeRange } from '../../format/range.ts';
import { formatIso } from '../../format/show.ts';
import { toQuery, withQuery } from '../../format/values.ts';

/** The first is the default. */
export const VIEWS = {
  lines: 'Lines',
  patterns: 'Patterns',
  compare: 'Compare',
  timeline: 'Timeline',
} as const;

/** Reads a range that is marked in the chart, as ISO 8601 and ms since the epoch; undefined if the text is not one. */
export function parseMark(text: string) {
  const [from = '', until = ''] = text.split('/');
  const [fromMs, untilMs] = [Date.parse(from), Date.parse(until)];
  return fromMs < untilMs
    ? { from: formatIso(fromMs), until: formatIso(untilMs), fromMs, untilMs }
    : undefined;
}

interface Part<T> {
  /** The value that the address leaves out. */
  readonly none: T;
  /** @returns undefined if the text cannot be read */
  read(text: string): T | undefined;
  write(value: T): string;
}

function part<T>(none: T, read: Part<T>['read'], write: Part<T>['write'] = String): Part<T> {
  return { none, read, write };
}

/** The first is the default. */
const oneOf = <const T extends string>(values: readonly T[]) =>
  part<T>(values[0] as T, (value) => values.find((one) => one === value)); // no list is empty
const text = (none = '') => part(none, (value) => value);
const list = () => part<readonly string[]>([], parseList, (items) => items.join(','));

export const LAST_HOUR: TimeRange = { kind: 'last', range: '1h' };

/** The content of Explore's address: everything but the key and the range. `?q=level:error&source=postgres.logs&range=6h` */
const PARTS = {
  q: text(),
  /** Names of sources; none: all that the key may search. */
  source: list(),
  project: text(),
  by: text('level'),
  /** What the chart shows of the events; empty: how many there are. */
  measure: part('', (value) => [formatMeasure(parseMeasure(value))].find((read) => read === value)),
  /** How many series the chart has; undefined: the default. */
  top: part<number | undefined>(undefined, (value) => TOPS.find((count) => String(count) === value)),
  columns: list(),
  live: part(
    false,
    (value) => value === '1' || undefined,
    (value) => (value ? '1' : ''),
  ),
  order: oneOf(['newest', 'oldest']),
  view: oneOf(Object.keys(VIEWS) as (keyof typeof VIEWS)[]),
  /** How the events are divided for a comparison (analysis/compare.tsx). */
  compare: oneOf(['', 'range', 'errors', 'search']),
  /** A range within the range to compare with the rest: `<from>/<until>`, ISO 8601. */
  mark: part('', (value) => (parseMark(value) === undefined ? undefined : value)),
  /** Identifies a line to show and mark (lines/line.ts). */
  at: text(),
};

export type ExploreAddress = {
  readonly [Name in keyof typeof PARTS]: (typeof PARTS)[Name] extends Part<infer T> ? T : never;
} & { readonly range: TimeRange };

const ENTRIES = Object.entries<Part<unknown>>(PARTS);

/** Reads a query string with or without `?`; what cannot be read counts as left out, and is returned as `range=7x`. */
export function readAddress(search: string): { readonly address: ExploreAddress; readonly unread: string[] } {
  const query = new URLSearchParams(search);
  const unread: string[] = [];
  const read = <T>(name: string, none: T, readText: (text: string) => T | undefined): T => {
    const given = query.getAll(name).join(',');
    const value = given === '' ? none : readText(given);
    if (value === undefined && given !== '') unread.push(`${name}=${given}`);
    return value ?? none;
  };
  const values = ENTRIES.map(([name, part]) => [name, read(name, part.none, part.read)]);
  const range = readRange(query) ?? LAST_HOUR;
  read('range', '', parseLast);
  // A range needs both: one alone is ignored.
  for (const name of ['from', 'until'])
    read(name, '', (given) => (range.kind === 'absolute' ? given : undefined));
  // ENTRIES has each other part once.
  return { address: { ...Object.fromEntries(values), range } as ExploreAddress, unread };
}

export function parseAddress(search: string): ExploreAddress {
  return readAddress(search).address;
}

/** Defaults are left out, so equal views have equal addresses. */
function toParameters({ range, ...address }: Partial<ExploreAddress>): Record<string, string | undefined> {
  const values: Readonly<Record<string, unknown>> = address;
  const written = ENTRIES.map(([name, { none, write }]) => {
    const text = values[name] === undefined ? '' : write(values[name]);
    return [name, text === write(none) ? '' : text] as const;
  });
  const isUsual = range === undefined || (range.kind === 'last' && range.range === '1h');
  return { ...Object.fromEntries(written), ...(isUsual ? {} : rangeParameters(range)) };
}

/** The query string without `?`. */
export function formatAddress(address: Partial<ExploreAddress>): string {
  return toQuery(toParameters(address));
}

/** The path of Explore for a link: `/explore?q=level%3Aerror`. */
export function explorePath(address: Partial<ExploreAddress>): string {
  return withQuery('/explore', toParameters(address));
}

// A comma within quotes belongs to the name of a field: headers."a,b".
const ITEM = /(?:"(?:\\.|[^"\\])*"|[^,"])+/g;

function parseList(value: string): string[] {
  const items = (value.match(ITEM) ?? []).map((item) => item.trim());
  return [...new Set(items)].filter((item) => item !== '');
}

/** What the chart shows of the events of a time bucket: `count`, or a function of a field, `p95(execution_time_ms)`. */
interface Measure {
  readonly name: MeasureName;
  /** Empty for `count`. */
  readonly field: string;
}

export const MEASURES = ['count', 'avg', 'p50', 'p95', 'p99', 'sum', 'distinct'] as const;

export type MeasureName = (typeof MEASURES)[number];

const COUNT: Measure = { name: 'count', field: '' };

/** Reads a measure of an address; another text counts events. */
export function parseMeasure(text: string): Measure {
  const [, found = '', field = ''] = /^(\w{1,20})\(([\s\S]{1,300})\)$/.exec(text) ?? [];
  const name = MEASURES.find((one) => one === found);
  return name === undefined || name === 'count' ? COUNT : { name, field };
}

/** As the service reads it; empty for the number of events. */
export function formatMeasure({ name, field }: Measure): string {
  return name === 'count' ? '' : `${name}(${field})`;
}

/** Whether values of series and of time buckets can be added: others are drawn as lines beside each other. */
export function isAdditive(measure: string): boolean {
  const { name } = parseMeasure(measure);
  return name === 'count' || name === 'sum';
}

/** Numbers of series to choose from, besides the default. */
export const TOPS: readonly number[] = [3, 5, 12, 20];
