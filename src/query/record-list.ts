import { setImmediate } from 'node:timers/promises';

// Rows that are rewritten at once, about a millisecond: other requests go on in between.
const CHUNK_BYTES = 256 * 1024;

const [QUOTE, BACKSLASH, COMMA, NEWLINE] = [0x22, 0x5c, 0x2c, 0x0a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Rewrites rows so that each object in some columns is a list of itself, as repeated records of BigQuery are:
 * `{"a":{"b":1}}` becomes `[{"a":[{"b":1}]}]`. Members of lists stay as they are. Only brackets are added: numbers of
 * any size, escapes and the order of keys stay.
 *
 * @param rows JSON objects, one in each line
 * @param places of the columns, from 0
 */
export async function listRecords(rows: Buffer, places: readonly number[]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let at = 0; at < rows.length; ) {
    const newline = rows.indexOf(NEWLINE, at + CHUNK_BYTES);
    const end = newline === -1 ? rows.length : newline + 1;
    chunks.push(listChunk(rows.subarray(at, end), new Set(places)));
    at = end;
    if (at < rows.length) await setImmediate();
  }
  return Buffer.concat(chunks);
}

/** An open bracket: of a list, of an object that becomes a list of itself, of any other object. */
type Open = 'list' | 'listed' | 'object';

interface State {
  readonly places: ReadonlySet<number>;
  readonly open: Open[];
  /** Column of the value that is being read. */
  column: number;
}

function listChunk(rows: Buffer, places: ReadonlySet<number>): Buffer {
  const out = Buffer.allocUnsafe(rows.length + 2 * countObjects(rows));
  const state: State = { places, open: [], column: 0 };
  let length = 0;
  for (let at = 0; at < rows.length; at++) {
    const byte = rows[at] ?? 0;
    if (byte === QUOTE) {
      const end = endOfText(rows, at);
      length += rows.copy(out, length, at, end);
      at = end - 1;
      continue;
    }
    const bracket = take(state, byte);
    if (bracket === OPEN_LIST) out[length++] = bracket;
    out[length++] = byte;
    if (bracket === CLOSE_LIST) out[length++] = bracket;
  }
  return out.subarray(0, length);
}

/** Reads a byte outside of texts. @returns the bracket that belongs before the brace of an object, or after it */
function take(state: State, byte: number): number | undefined {
  const { open, places } = state;
  if (byte === OPEN_LIST) open.push('list');
  else if (byte === CLOSE_LIST) open.pop();
  else if (byte === CLOSE_OBJECT) return open.pop() === 'listed' ? CLOSE_LIST : undefined;
  else if (byte === OPEN_OBJECT) {
    const isListed = open.length > 0 && open.at(-1) !== 'list' && places.has(state.column);
    open.push(isListed ? 'listed' : 'object');
    return isListed ? OPEN_LIST : undefined;
  } else if (byte === COMMA && open.length === 1) state.column++;
  else if (byte === NEWLINE) state.column = 0;
  return undefined;
}

function countObjects(rows: Buffer): number {
  let count = 0;
  for (let at = rows.indexOf(OPEN_OBJECT); at !== -1; at = rows.indexOf(OPEN_OBJECT, at + 1)) count++;
  return count;
}

/** @param at of the quote that begins the text. @returns the place after the quote that ends it */
function endOfText(rows: Buffer, at: number): number {
  for (let end = at + 1; end < rows.length; end++) {
    if (rows[end] === BACKSLASH) end++;
    else if (rows[end] === QUOTE) return end + 1;
  }
  return rows.length;
}
