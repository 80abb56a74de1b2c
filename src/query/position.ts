import { CURSOR_PREFIX, type PageColumn, type Pages } from '../definitions/pages.ts';

/** The texts of a row's cursor columns, in the order of `by`: what follows the row is the next page. */
export type Position = readonly string[];

// `@cursor_id` of the first page is NULL, and so not the empty text, which a row may have.
const TEXT_MARK = '=';

/** What `@cursor_<column>` is bound to. @param position `undefined`: the first page */
export function bindPosition(pages: Pages | undefined, position?: Position): Record<string, string> {
  const bound = pages?.by.map(({ name, type }, i) => {
    const text = position?.[i];
    const value = text === undefined ? '' : type === 'string' ? TEXT_MARK + text : text;
    return [CURSOR_PREFIX + name, value] as const;
  });
  return Object.fromEntries(bound ?? []);
}

/** SQL for `@cursor_<column>`: a value of the column's type, or NULL. */
export function writeCursorColumn({ name, type }: PageColumn): string {
  const bound = `@${CURSOR_PREFIX}${name}`;
  if (type === 'integer') return `CAST(nullIf(${bound}, ''), 'Nullable(Int64)')`;
  return `CAST(if(${bound} = '', NULL, substring(${bound}, ${TEXT_MARK.length + 1})), 'Nullable(String)')`;
}

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
    texts.length === by.length &&
    by.every(({ type }, i) => {
      const text = texts[i];
      return typeof text === 'string' && (type === 'string' || /^-?\d{1,19}$/.test(text));
    })
  );
}

/** Compares positions as the engine orders the rows: below 0 if `a` comes before `b`. */
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

/**
 * A position just before a row's own: the rows after it begin with that row. `undefined` if there is none, such as before a text in
 * ascending order.
 */
export function positionBefore({ by }: Pages, position: Position): Position | undefined {
  const column = by.at(-1);
  const text = position.at(-1);
  if (column === undefined || text === undefined) return undefined;
  const others = position.slice(0, -1);
  if (column.type === 'string') return column.isDescending ? [...others, `${text}\0`] : undefined;
  const next = BigInt(text) + (column.isDescending ? 1n : -1n);
  return BigInt.asIntN(64, next) === next ? [...others, String(next)] : undefined;
}
