// A walk over the bytes of a JSON text that passes each byte once: to cut events out of a body. Nested values are
// passed by their brackets only; the scan of each event proves them valid.

import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  createTable,
  endOfScalar,
  endOfString,
  IS_SPACE,
  NOT_JSON,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './grammar.ts';

/** A place in the bytes of a JSON text. */
export interface Cursor {
  readonly bytes: Buffer;
  at: number;
}

/** Where a value stands. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Moves to the next token. @returns its first byte; 0 at the end */
export function nextToken(cursor: Cursor): number {
  const { bytes } = cursor;
  let at = cursor.at;
  while (IS_SPACE[bytes[at] ?? 0] === 1) at++;
  cursor.at = at;
  return bytes[at] ?? 0;
}

/** Passes an array. @param onElement has to pass the element before which the cursor stands @throws NOT_JSON */
export function passArray(cursor: Cursor, onElement: () => void): void {
  passItems(cursor, { opening: OPEN_BRACKET, closing: CLOSE_BRACKET }, onElement);
}

/**
 * Passes an object.
 *
 * @param onMember gets the place of the name, quotes included, and has to pass the value
 * @throws NOT_JSON
 */
export function passObject(cursor: Cursor, onMember: (name: Span) => void): void {
  passItems(cursor, { opening: OPEN_BRACE, closing: CLOSE_BRACE }, () => {
    const start = cursor.at;
    if (cursor.bytes[start] !== QUOTE) throw NOT_JSON;
    const end = endOfString(cursor.bytes, start);
    cursor.at = end;
    if (nextToken(cursor) !== COLON) throw NOT_JSON;
    cursor.at++;
    nextToken(cursor);
    onMember({ start, end });
  });
}

function passItems(
  cursor: Cursor,
  { opening, closing }: { readonly opening: number; readonly closing: number },
  onItem: () => void,
): void {
  if (nextToken(cursor) !== opening) throw NOT_JSON;
  cursor.at++;
  for (let next = nextToken(cursor); next !== closing; ) {
    onItem();
    next = nextToken(cursor);
    if (next === closing) break;
    if (next !== COMMA) throw NOT_JSON;
    cursor.at++;
    if (nextToken(cursor) === closing) throw NOT_JSON;
  }
  cursor.at++;
}

/** Passes a value, whose nested values are not proven valid. @throws NOT_JSON */
export function passValue(cursor: Cursor): Span {
  const { bytes, at: start } = cursor;
  const first = bytes[start];
  const isNested = first === OPEN_BRACE || first === OPEN_BRACKET;
  cursor.at = isNested ? endOfBrackets(bytes, start) : endOfScalar(bytes, start);
  return { start, end: cursor.at };
}

const [PASSED, STRING, OPENS, CLOSES, NOWHERE] = [0, 1, 2, 3, 4];
const KINDS = createTable((byte) => {
  if (byte === QUOTE) return STRING;
  if (byte === OPEN_BRACE || byte === OPEN_BRACKET) return OPENS;
  if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) return CLOSES;
  return byte === 0 ? NOWHERE : PASSED; // a zero also stands for the end
});

/**
 * Returns the index after the bracket that closes the one at `start`; brackets of both kinds count as one.
 *
 * @throws NOT_JSON
 */
export function endOfBrackets(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; ; at++) {
    const kind = KINDS[bytes[at] ?? 0];
    if (kind === PASSED) continue;
    if (kind === STRING) at = endOfText(bytes, at + 1);
    else if (kind === OPENS) depth++;
    else if (kind === NOWHERE) throw NOT_JSON;
    else if (--depth === 0) return at + 1;
  }
}

/** Returns the index of the quote that ends a string. */
function endOfText(bytes: Buffer, start: number): number {
  for (let at = start; ; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
    else if (byte === 0) throw NOT_JSON;
  }
}
