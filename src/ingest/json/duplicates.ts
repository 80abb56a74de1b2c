import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  endOfScalar,
  endOfString,
  IS_SPACE,
  NOT_JSON,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  readString,
} from './grammar.ts';

// Shared by all texts: most need no more, and clearing them takes less time than allocating others.
const FIRST_SLOTS = new Int32Array(256);
const OBJECTS = new Int32Array(128);
// A sender that chooses names with equal hashes would make each probe longer than the one before.
const PROBES_MAX = 64;

/** The hashes of the names of a text, each with that of its object. For one text at a time, since they share memory. */
export interface NameHashes {
  slots: Int32Array;
  count: number;
  /** Where the open objects begin, by depth. */
  readonly objects: Int32Array;
}

export function createNameHashes(): NameHashes {
  FIRST_SLOTS.fill(0);
  return { slots: FIRST_SLOTS, count: 0, objects: OBJECTS };
}

/** Notes a name by its hash. @returns whether the object at this depth may have had it: always if it had, rarely if not */
export function addName(names: NameHashes, depth: number, hash: number): boolean {
  if (++names.count * 2 > names.slots.length) grow(names);
  return addHash(names.slots, (hash + Math.imul(names.objects[depth] ?? 0, 0x85ebca6b)) | 1);
}

function addHash(slots: Int32Array, hash: number): boolean {
  const mask = slots.length - 1;
  let at = (hash >> 1) & mask;
  for (let probes = 0; slots[at] !== 0; at = (at + 1) & mask)
    if (slots[at] === hash || ++probes > PROBES_MAX) return true;
  slots[at] = hash;
  return false;
}

function grow(names: NameHashes): void {
  const slots = new Int32Array(names.slots.length * 4);
  for (const hash of names.slots) if (hash !== 0) addHash(slots, hash);
  names.slots = slots;
}

/**
 * Leaves out each member of an object that is followed by one of the same name, at any depth, as JSON.parse does: the engine
 * would read the first. What stays is exact.
 *
 * @param bytes JSON that is nested no deeper than an event may be
 * @returns the same bytes if there is no such member
 */
export function dropDuplicates(bytes: Buffer): Buffer {
  const dropped: Span[] = [];
  const cursor = { bytes, at: 0 };
  const pass = () => {
    const first = nextToken(cursor);
    if (first === OPEN_BRACE) passMembers();
    else if (first === OPEN_BRACKET) passArray(cursor, pass);
    else cursor.at = endOfScalar(bytes, cursor.at);
  };
  const passMembers = () => {
    let indexes: Map<string, number> | undefined; // a large event may have many empty objects
    const starts: number[] = [];
    passObject(cursor, ({ start, end }) => {
      const name = readString(bytes.toString('utf8', start, end));
      const index = starts.push(start) - 1;
      indexes ??= new Map();
      const earlier = indexes.get(name) ?? index;
      indexes.set(name, index);
      if (earlier < index) dropped.push({ start: starts[earlier] ?? 0, end: starts[earlier + 1] ?? 0 });
      pass();
    });
  };
  pass();
  return dropped.length === 0 ? bytes : without(bytes, dropped);
}

/** @param spans in any order; one may be within another */
function without(bytes: Buffer, spans: readonly Span[]): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    if (start < at) continue; // within the one before
    parts.push(bytes.subarray(at, start));
    at = end;
  }
  return Buffer.concat([...parts, bytes.subarray(at)]);
}

/** A place in the bytes of a JSON text. */
interface Cursor {
  readonly bytes: Buffer;
  at: number;
}

/** Where a value stands. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** Moves to the next token. @returns its first byte; 0 at the end */
function nextToken(cursor: Cursor): number {
  const { bytes } = cursor;
  let at = cursor.at;
  while (IS_SPACE[bytes[at] ?? 0] === 1) at++;
  cursor.at = at;
  return bytes[at] ?? 0;
}

/** Passes an array. @param onElement has to pass the element before which the cursor stands @throws NOT_JSON */
function passArray(cursor: Cursor, onElement: () => void): void {
  passItems(cursor, { opening: OPEN_BRACKET, closing: CLOSE_BRACKET }, onElement);
}

/**
 * Passes an object.
 *
 * @param onMember gets the place of the name, quotes included, and has to pass the value
 * @throws NOT_JSON
 */
function passObject(cursor: Cursor, onMember: (name: Span) => void): void {
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
