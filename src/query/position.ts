import type { Endpoint } from '../definitions/endpoint.ts';
import {
  CURSOR_PREFIX,
  PAGE_FROM,
  PAGE_SKIP,
  PAGE_UNTIL,
  type PageColumn,
  type PageRange,
  type Pages,
} from '../definitions/pages.ts';
import { NOW_PARAMETER } from '../definitions/parameter.ts';
import {
  EARLIEST_MICROS,
  formatInstant,
  LATEST_MICROS,
  MICROS_PER_MS,
  type Micros,
  parseInstant,
} from '../lib/instant.ts';
import { type Values, writeValue } from '../sql/sql.ts';

/** The texts of parameters. */
type Bound = Readonly<Record<string, string>>;

/**
 * The texts of a row's cursor columns, in the order of `by`: what follows the row is the next page. Rows may share
 * them, so in a cursor they are followed by how many of those rows were sent: a number in that of a page, `t` and a
 * number in that of a live tail, which sends them in the opposite order. Without it all of them were.
 */
export type Position = readonly string[];

// `@cursor_id` of the first page is NULL, and so not the empty text, which a row may have.
const TEXT_MARK = '=';
const TAIL_MARK = 't';

/** What `@cursor_<column>` is bound to, and `@page_skip`. @param position `undefined`: the first page */
export function bindPosition(pages: Pages | undefined, position?: Position): Record<string, string> {
  if (pages === undefined) return {};
  const sent = readSent(pages, position);
  const before = position !== undefined && sent !== undefined ? positionBefore(pages, position) : undefined;
  const bound = pages.by.map(({ name, type }, i) => {
    const text = (before ?? position)?.[i];
    const value = text === undefined ? '' : type === 'string' ? TEXT_MARK + text : text;
    return [CURSOR_PREFIX + name, value] as const;
  });
  return { ...Object.fromEntries(bound), [PAGE_SKIP]: before === undefined ? '' : String(sent) };
}

/** The rows at a position that a page before has sent; `undefined`: all, or the query cannot leave them out. */
function readSent({ by, canSkip }: Pages, position?: Position): number | undefined {
  const sent = position?.[by.length];
  return canSkip && sent !== undefined && !sent.startsWith(TAIL_MARK) ? Number(sent) : undefined;
}

/** A position in the cursor of a page. @param sent the rows with its texts that were sent */
export function withSent({ by }: Pages, position: Position, sent: number): Position {
  return [...position.slice(0, by.length), String(sent)];
}

/** A position in the cursor of a live tail. */
export function withTailSent({ by }: Pages, position: Position, sent: number): Position {
  return [...position.slice(0, by.length), `${TAIL_MARK}${sent}`];
}

/** The rows with the texts of a position that a live tail has sent; `undefined`: all of them. */
export function readTailSent({ by }: Pages, position: Position): number | undefined {
  const sent = position[by.length];
  return sent?.startsWith(TAIL_MARK) === true ? Number(sent.slice(TAIL_MARK.length)) : undefined;
}

/** How many rows with the texts of a position were sent before the page of these values. */
export function findSkipped(pages: Pages, values: Record<string, string>, position: Position): number {
  const skipped = Number(values[PAGE_SKIP] ?? '');
  if (skipped === 0) return 0;
  const bound = bindPosition(pages, withSent(pages, position, skipped));
  return Object.entries(bound).every(([name, value]) => values[name] === value) ? skipped : 0;
}

/** SQL for `@cursor_<column>`: a value of the column's type, or NULL. */
export function writeCursorColumn({ name, type }: PageColumn): string {
  const bound = `@${CURSOR_PREFIX}${name}`;
  if (type === 'integer') return `CAST(nullIf(${bound}, ''), 'Nullable(Int64)')`;
  return `CAST(if(${bound} = '', NULL, substring(${bound}, ${TEXT_MARK.length + 1})), 'Nullable(String)')`;
}

/** What `writeCursorColumn` would compute, for a statement that is written with its values. */
export function writeCursorValue({ type }: PageColumn, bound: string): string {
  if (bound === '') return NO_CURSOR;
  return type === 'integer'
    ? `CAST(${writeValue(bound)}, 'Nullable(Int64)')`
    : writeValue(bound.slice(TEXT_MARK.length));
}

/** What `writeCursorValue` returns on the first page. */
export const NO_CURSOR = 'NULL';

/** Keeps the digits of an integer that a double would round. */
const keepDigits = (_name: string, value: unknown, context?: { readonly source: string }) =>
  typeof value === 'number' && context !== undefined ? context.source : value;

/** The position of a row in JSON. */
export function readPosition({ by }: Pages, row: Buffer): Position {
  const values = JSON.parse(row.toString(), keepDigits) as Record<string, unknown>;
  return by.map(({ name }) => String(values[name]));
}

/** Whether a value is one that a row can have at its place. */
export function isPosition({ by }: Pages, texts: readonly unknown[]): texts is Position {
  return (
    (texts.length === by.length ||
      (texts.length === by.length + 1 && /^t?\d{1,15}$/.test(String(texts.at(-1))))) &&
    by.every(({ type }, i) => {
      const text = texts[i];
      return typeof text === 'string' && (type === 'string' || /^-?\d{1,19}$/.test(text));
    })
  );
}

/** Compares positions as the engine orders the rows: below 0 if `a` comes before `b`, 0 if they have the same texts. */
export function comparePositions({ by }: Pages, a: Position, b: Position): number {
  for (const [i, { type, isDescending }] of by.entries()) {
    const order = compareTexts(type, a[i] ?? '', b[i] ?? '');
    if (order !== 0) return isDescending ? -order : order;
  }
  return 0;
}

/** Texts by their bytes in UTF-8, as the engine does. */
function compareTexts(type: PageColumn['type'], a: string, b: string): number {
  if (a === b) return 0;
  if (type === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return BigInt(a) < BigInt(b) ? -1 : 1;
}

/** A position just before a row's own; `undefined` if there is none, such as before a text in ascending order. */
export function positionBefore({ by }: Pages, position: Position): Position | undefined {
  const column = by.at(-1);
  const text = position[by.length - 1];
  if (column === undefined || text === undefined) return undefined;
  const others = position.slice(0, by.length - 1);
  if (column.type === 'string') return column.isDescending ? [...others, `${text}\0`] : undefined;
  const next = BigInt(text) + (column.isDescending ? 1n : -1n);
  return BigInt.asIntN(64, next) === next ? [...others, String(next)] : undefined;
}

/** The upper bound of a range without one; optional conditions with it are left out. */
export const UNBOUNDED = formatInstant(LATEST_MICROS);

/** Values that the service binds in SQL: the instant, and the range of a page. @param from reads only rows from then on */
export function serviceValues(
  { pages }: Pick<Endpoint, 'pages'>,
  values: Bound,
  { instantMs, from = EARLIEST_MICROS }: { instantMs: number; from?: Micros | undefined },
): Values {
  const now = { [NOW_PARAMETER]: formatInstant(instantMs * MICROS_PER_MS) };
  if (pages?.range === undefined) return now;
  const range = findPageRange(pages, pages.range, values);
  const start = formatInstant(Math.max(range.from, from));
  return { ...now, [PAGE_FROM]: start, [PAGE_UNTIL]: formatInstant(range.until) };
}

/** The times of the rows of a page, both inclusive: what the caller asked for and, after a cursor, what is left of it. */
export function findPageRange({ by }: Pages, { after = '', until = '' }: PageRange, values: Bound) {
  const start = parseInstant(values[after] ?? '');
  const end = parseInstant(values[until] ?? '') ?? LATEST_MICROS;
  const position = values[CURSOR_PREFIX + by[0]?.name] || LATEST_MICROS;
  return {
    // Instants are whole microseconds.
    from: start === undefined ? EARLIEST_MICROS : Math.min(start + 1, LATEST_MICROS),
    until: Math.max(Math.min(end, Number(position)), EARLIEST_MICROS),
  };
}
