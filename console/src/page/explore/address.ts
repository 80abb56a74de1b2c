import { type LastRange, parseLast } from '../../format/range.ts';
import { formatIso } from '../../format/time.ts';

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
const INSTANT = part<string | undefined>(undefined, (value) =>
  Number.isNaN(Date.parse(value)) ? undefined : value,
);

/** The content of Explore's address: everything but the key. `?q=level:error&source=postgres.logs&range=6h` */
const PARTS = {
  q: text(),
  /** Names of sources; none: all that the key may search. */
  source: list(),
  project: text(),
  /** Left out if `from` and `until` are set. */
  range: part<LastRange | undefined>('1h', parseLast),
  /** ISO 8601; both or none. */
  from: INSTANT,
  until: INSTANT,
  by: text('level'),
  /** What the chart shows of the events ; empty: how many there are. */
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
};

const ENTRIES = Object.entries<Part<unknown>>(PARTS);

/** Reads a query string with or without `?`; what cannot be read counts as left out, and is returned as `range=7x`. */
export function readAddress(search: string): { readonly address: ExploreAddress; readonly unread: string[] } {
  const query = new URLSearchParams(search);
  const isAbsolute = ['from', 'until'].every((name) => INSTANT.read(query.get(name) ?? ''));
  const unread: string[] = [];
  const values = ENTRIES.map(([name, { none, read }]) => {
    const given = query.getAll(name).join(',');
    const value = given === '' ? none : read(given);
    const isHalf = !isAbsolute && (name === 'from' || name === 'until');
    if (given !== '' && (value === undefined || isHalf)) unread.push(`${name}=${given}`);
    return [name, isHalf ? none : (value ?? none)];
  });
  // ENTRIES has each part once.
  const address = Object.fromEntries(values) as ExploreAddress;
  return { address: isAbsolute ? { ...address, range: undefined } : address, unread };
}

export function parseAddress(search: string): ExploreAddress {
  return readAddress(search).address;
}

/** The query string without `?`; defaults are left out, so equal views have equal addresses. */
export function formatAddress(address: Partial<ExploreAddress>): string {
  const query = new URLSearchParams();
  for (const [name, { none, write }] of ENTRIES) {
    const value = (address as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined && write(value) !== write(none)) query.set(name, write(value));
  }
  return query.toString();
}

/** The path of Explore for a link: `/explore?q=level%3Aerror`. */
export function explorePath(address: Partial<ExploreAddress>): string {
  const query = formatAddress(address);
  return query === '' ? '/explore' : `/explore?${query}`;
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

export function needsNumbers(name: MeasureName): boolean {
  return name !== 'count' && name !== 'distinct';
}

/** Numbers of series to choose from, besides the default. */
export const TOPS: readonly number[] = [3, 5, 12, 20];
