// What values of JSON look like as bytes (RFC 8259), which paths are read, and which names an object has twice.

/** The bytes are not JSON. One object for all, since capturing a stack takes longer than the scan. */
export const NOT_JSON = new SyntaxError('not valid JSON');

export const SPACE = 0x20;
export const QUOTE = 0x22;
const MINUS = 0x2d;
const POINT = 0x2e;
const BACKSLASH = 0x5c;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
const LETTER_U = 0x75;

/** 1 for each byte at which a string ends, or that is more than itself. */
export const STOPS_STRING = createTable((byte) => byte < 0x20 || byte === QUOTE || byte === BACKSLASH);
export const IS_SPACE = createTable(
  (byte) => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d,
);
const IS_DIGIT = createTable((byte) => byte >= 0x30 && byte <= 0x39);
const IS_HEX = createTable((byte) => /[0-9a-f]/i.test(String.fromCharCode(byte)));
const IS_ESCAPE = createTable((byte) => '"\\/bfnrt'.includes(String.fromCharCode(byte)));
const WORDS = new Map(
  [true, false, null].map((value) => {
    const bytes = Buffer.from(String(value));
    return [bytes[0], { value, bytes }];
  }),
);

/** A number for each byte; true is 1. */
function createTable(holds: (byte: number) => boolean | number): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => Number(holds(byte)));
}

/** Returns the word that begins like this, `true`, `false` or `null`, and its value. */
export function wordAt(bytes: Buffer, at: number) {
  return WORDS.get(bytes[at]);
}

/** Returns the index after the string that opens at `start`. */
export function endOfString(bytes: Buffer, start: number): number {
  let at = start + 1;
  for (;;) {
    while (STOPS_STRING[bytes[at] ?? 0] === 0) at++;
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte !== BACKSLASH) throw NOT_JSON;
    const escaped = bytes[at + 1] ?? 0;
    if (IS_ESCAPE[escaped] === 1) at += 2;
    else if (escaped === LETTER_U) at = endOfHex(bytes, at + 2);
    else throw NOT_JSON;
  }
}

const HEX_DIGITS = 4;

function endOfHex(bytes: Buffer, start: number): number {
  for (let at = start; at < start + HEX_DIGITS; at++) if (IS_HEX[bytes[at] ?? 0] === 0) throw NOT_JSON;
  return start + HEX_DIGITS;
}

/** Returns the index after a string, number, boolean or null. */
export function endOfScalar(bytes: Buffer, start: number): number {
  const first = bytes[start] ?? 0;
  if (first === QUOTE) return endOfString(bytes, start);
  if (first === MINUS) return endOfNumber(bytes, start + 1);
  if (IS_DIGIT[first] === 1) return endOfNumber(bytes, start);
  const word = wordAt(bytes, start);
  if (word === undefined) throw NOT_JSON;
  for (const [i, byte] of word.bytes.entries()) if (bytes[start + i] !== byte) throw NOT_JSON;
  return start + word.bytes.length;
}

const ZERO = 0x30;

/** @param start after the minus */
function endOfNumber(bytes: Buffer, start: number): number {
  let at = bytes[start] === ZERO ? start + 1 : endOfDigits(bytes, start);
  if (bytes[at] === POINT) at = endOfDigits(bytes, at + 1);
  const exponent = bytes[at];
  if (exponent !== 0x65 && exponent !== 0x45) return at; // e, E
  const sign = bytes[at + 1];
  return endOfDigits(bytes, sign === MINUS || sign === 0x2b ? at + 2 : at + 1);
}

function endOfDigits(bytes: Buffer, start: number): number {
  let at = start;
  while (IS_DIGIT[bytes[at] ?? 0] === 1) at++;
  if (at === start) throw NOT_JSON;
  return at;
}

export function readString(quoted: string): string {
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}

/** A name on one of the paths whose values are read. */
export interface PathNode {
  readonly name: string;
  readonly bytes: Buffer;
  /** The slot of the value itself; -1 if only values inside of it are read. */
  slot: number;
  readonly children: PathNode[];
}

export type Path = readonly string[];

export type PathPlan = ReturnType<typeof planPaths>;

/** Plans which values to read. Paths lead through objects only. @param from names of each path before it are left out */
export function planPaths(paths: readonly Path[], from = 0) {
  const root = createNode('');
  const slots = new Map<Path, number>();
  let next = 0;
  for (const path of paths) {
    const end = path.slice(from).reduce(childOf, root);
    if (end.slot === -1) end.slot = next++;
    slots.set(path, end.slot);
  }
  return { root, slots: slots as ReadonlyMap<Path, number> };
}

function createNode(name: string): PathNode {
  return { name, bytes: Buffer.from(name), slot: -1, children: [] };
}

function childOf(node: PathNode, name: string): PathNode {
  const known = node.children.find((child) => child.name === name);
  if (known !== undefined) return known;
  const child = createNode(name);
  node.children.push(child);
  return child;
}

/** Finds which node's name stands at a place, quotes included; it may be written with escapes. */
export function findNode(
  nodes: readonly PathNode[],
  bytes: Buffer,
  start: number,
  end: number,
  isPlain: boolean,
) {
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i];
    if (node !== undefined && isName(node.bytes, bytes, start, end)) return node;
  }
  if (isPlain || nodes.length === 0) return undefined;
  const name = readString(bytes.toString('utf8', start, end));
  return nodes.find((node) => node.name === name);
}

function isName(name: Buffer, bytes: Buffer, start: number, end: number): boolean {
  if (name.length !== end - start - 2) return false;
  for (let i = 0; i < name.length; i++) if (name[i] !== bytes[start + 1 + i]) return false;
  return true;
}

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

/** Where a member stands, up to the next one. */
interface Span {
  readonly start: number;
  end: number;
}

/** The members that are followed by one of the same name in their object. */
export interface Duplicates {
  readonly spans: Span[];
  /** For each open object, by depth: where each name was last, and the last member. */
  readonly objects: { readonly named: Map<string, Span>; last?: Span }[];
}

/** Notes a member by its name, which stands at `start` to `end`, quotes included; if members are noted at all. */
export function addMember(
  duplicates: Duplicates | undefined,
  depth: number,
  bytes: Buffer,
  start: number,
  end: number,
): void {
  const object = duplicates?.objects[depth];
  if (duplicates === undefined || object === undefined) return; // the scan has set it when the object began
  const name = readString(bytes.toString('utf8', start, end));
  const earlier = object.named.get(name);
  if (earlier !== undefined) duplicates.spans.push(earlier);
  if (object.last !== undefined) object.last.end = start;
  object.last = { start, end: start };
  object.named.set(name, object.last);
}

/** Returns the bytes without these members. */
export function without(bytes: Buffer, { spans }: Duplicates): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    if (start < at) continue; // within the one before
    parts.push(bytes.subarray(at, start));
    at = end;
  }
  return Buffer.concat([...parts, bytes.subarray(at)]);
}
