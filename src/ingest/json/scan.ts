// One pass over the bytes of a JSON text proves it valid, finds where its members stand and reads the values at given
// paths. `JSON.parse` would create an object for every value, and a second scan would have to find their text.

import { isAscii } from 'node:buffer';
import {
  addMember,
  addName,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  createNameHashes,
  type Duplicates,
  endOfScalar,
  endOfString,
  findNode,
  IS_SPACE,
  type NameHashes,
  NOT_JSON,
  OPEN_BRACE,
  OPEN_BRACKET,
  type PathNode,
  type PathPlan,
  planPaths,
  QUOTE,
  readString,
  SPACE,
  STOPS_STRING,
  without,
  wordAt,
} from './grammar.ts';

/** Bounds on the JSON of one event; past one of them the event is rejected, never cut. */
export interface JsonLimits {
  /** Deepest nesting, the outermost value being 1. */
  readonly depthMax: number;
  /** Members at every depth. */
  readonly keysMax: number;
  /** Longest name, in characters of its JSON text. */
  readonly keyCharsMax: number;
}

/** Spans of a member. */
export const MEMBER_SPANS = 4;

export type JsonScan = Readonly<Pick<Walk, 'kind' | 'spans' | 'values' | 'mayHaveDuplicates' | 'hasBreaks'>>;

/** Where an object or array stands in the bytes. */
export interface JsonPlace {
  readonly start: number;
  end: number;
}

const UNLIMITED: JsonLimits = { depthMax: Infinity, keysMax: Infinity, keyCharsMax: Infinity };

const NO_PATHS = planPaths([]);

interface Walk {
  kind: 'object' | 'array' | 'scalar';
  readonly bytes: Buffer;
  /** The same as text, if each byte is one character. */
  readonly text: string | undefined;
  readonly limits: JsonLimits;
  at: number;
  keys: number;
  /** The closing brackets of what is open, and the nodes of these values. */
  readonly open: number[];
  readonly nodes: (PathNode | undefined)[];
  /** `undefined`: duplicates are not looked for. */
  readonly names: NameHashes | undefined;
  readonly duplicates: Duplicates | undefined;
  /** The node of the next value. */
  node: PathNode | undefined;
  /** Start and end of the name, quotes included, and of the value of each member; of the elements of an array. */
  readonly spans: number[];
  /** By slot: the text, number, boolean or null at a path, or the place of an object or array; `undefined` without one. */
  readonly values: unknown[];
  /** Whether an object may have two members of one name, see `dropDuplicates`; the values of paths may then be of either. */
  mayHaveDuplicates: boolean;
  /** Whether line breaks stand between tokens; valid JSON has them nowhere else. */
  hasBreaks: boolean;
}

interface ScanOptions extends Partial<Pick<Walk, 'text' | 'duplicates'>> {
  /** Those of an event, whose objects are searched for duplicates. */
  readonly limits?: JsonLimits;
  readonly paths?: PathPlan;
}

/**
 * Scans the one JSON value that `bytes` (UTF-8) are, as `JSON.parse` accepts it. Nothing recurses, so any depth is possible.
 * @throws NOT_JSON; RangeError that names the exceeded limit, to complete the sentence "event 3 …"
 */
export function scanJson(bytes: Buffer, options: ScanOptions = {}): JsonScan {
  const walk = createWalk(bytes, options);
  passAll(walk);
  return walk;
}

/** Returns the index of the byte from which on the bytes are not JSON; `undefined` if they are. */
export function findJsonFault(bytes: Buffer): number | undefined {
  const walk = createWalk(bytes, {});
  try {
    passAll(walk);
    return undefined;
  } catch (error) {
    if (error !== NOT_JSON) throw error;
    return walk.at;
  }
}

function createWalk(
  bytes: Buffer,
  { limits = UNLIMITED, paths = NO_PATHS, text, duplicates }: ScanOptions,
): Walk {
  return {
    kind: 'scalar',
    bytes,
    text,
    limits,
    at: 0,
    keys: 0,
    open: [],
    nodes: [],
    names: limits === UNLIMITED ? undefined : createNameHashes(),
    duplicates,
    node: paths.root,
    spans: [],
    values: new Array(paths.slots.size).fill(undefined),
    mayHaveDuplicates: false,
    hasBreaks: false,
  };
}

function passAll(walk: Walk): void {
  skipSpace(walk);
  do {
    if (begin(walk)) continue;
    while (walk.open.length > 0 && !goOn(walk));
  } while (walk.open.length > 0);
  skipSpace(walk);
  if (walk.at !== walk.bytes.length) throw NOT_JSON;
}

/** Passes a value, or the bracket that opens one. @returns whether the first value inside of it follows */
function begin(walk: Walk): boolean {
  const { bytes, at, node } = walk;
  const first = bytes[at];
  if (first === OPEN_BRACE) return open(walk, CLOSE_BRACE);
  if (first === OPEN_BRACKET) return open(walk, CLOSE_BRACKET);
  const end = endOfScalar(bytes, at);
  walk.at = end;
  if (node !== undefined && node.slot !== -1) walk.values[node.slot] = readScalar(walk, at, end);
  return false;
}

function open(walk: Walk, closing: number): boolean {
  const { bytes, limits, node } = walk;
  const start = walk.at++;
  if (node !== undefined && node.slot !== -1) walk.values[node.slot] = { start, end: start };
  if (walk.open.length === 0) walk.kind = closing === CLOSE_BRACE ? 'object' : 'array';
  if (walk.open.length + 1 > limits.depthMax)
    throw new RangeError(`is nested deeper than ${limits.depthMax} levels`);
  skipSpace(walk);
  if (bytes[walk.at] === closing) {
    walk.at++;
    setEnd(walk, node);
    return false;
  }
  walk.open.push(closing);
  walk.nodes.push(node);
  if (walk.names !== undefined) walk.names.objects[walk.open.length] = start;
  else if (walk.duplicates !== undefined) walk.duplicates.objects[walk.open.length] = { named: new Map() };
  startItem(walk, closing);
  return true;
}

/** Passes what follows a value. @returns whether another value follows */
function goOn(walk: Walk): boolean {
  const { bytes, open: opened, spans } = walk;
  if (opened.length === 1) spans.push(walk.at);
  skipSpace(walk);
  const next = bytes[walk.at];
  const closing = opened[opened.length - 1] ?? 0;
  if (next === COMMA) {
    walk.at++;
    skipSpace(walk);
    startItem(walk, closing);
    return true;
  }
  if (next !== closing) throw NOT_JSON;
  walk.at++;
  opened.pop();
  setEnd(walk, walk.nodes.pop());
  return false;
}

/** Sets the end of the object or array that was passed. */
function setEnd({ values, at }: Walk, node: PathNode | undefined): void {
  if (node !== undefined && node.slot !== -1) (values[node.slot] as JsonPlace).end = at; // from `open`
}

/** Passes the name of a member; an element has none. */
function startItem(walk: Walk, closing: number): void {
  if (closing === CLOSE_BRACE) passName(walk);
  else walk.node = undefined;
  if (walk.open.length === 1) walk.spans.push(walk.at);
}

function passName(walk: Walk): void {
  const { bytes, at: start, limits, names } = walk;
  if (bytes[start] !== QUOTE) throw NOT_JSON;
  let at = start + 1;
  // Sums of sums as a hash: with a product, each byte would have to wait for that of the byte before.
  let one = 0;
  let two = 0;
  let three = 0;
  for (let byte = bytes[at] ?? 0; STOPS_STRING[byte] === 0; byte = bytes[++at] ?? 0) {
    one = (one + byte) | 0;
    two = (two + one) | 0;
    three = (three + two) | 0;
  }
  const isPlain = bytes[at] === QUOTE;
  const end = isPlain ? at + 1 : endOfString(bytes, start);
  const { keyCharsMax } = limits;
  if (end - start - 2 > keyCharsMax && bytes.toString('utf8', start, end).length - 2 > keyCharsMax)
    throw new RangeError(`has a key longer than ${keyCharsMax} characters`);
  if (++walk.keys > limits.keysMax) throw new RangeError(`has more than ${limits.keysMax} keys`);
  const depth = walk.open.length;
  if (names === undefined) addMember(walk.duplicates, depth, bytes, start, end);
  else if (!walk.mayHaveDuplicates)
    walk.mayHaveDuplicates =
      !isPlain || addName(names, depth, Math.imul(one, 0x01000193) ^ Math.imul(two, 0x9e3779b1) ^ three);
  if (depth === 1) walk.spans.push(start, end);
  const nodes = walk.nodes[depth - 1]?.children;
  walk.node = nodes && findNode(nodes, bytes, start, end, isPlain);
  walk.at = end;
  skipSpace(walk);
  if (bytes[walk.at] !== COLON) throw NOT_JSON;
  walk.at++;
  skipSpace(walk);
}

function readScalar({ bytes, text }: Walk, start: number, end: number): unknown {
  const word = wordAt(bytes, start);
  if (word !== undefined) return word.value;
  const scalar = text?.slice(start, end) ?? bytes.toString('utf8', start, end);
  return bytes[start] === QUOTE ? readString(scalar) : Number(scalar);
}

function skipSpace(walk: Walk): void {
  const { bytes } = walk;
  let at = walk.at;
  for (let byte = bytes[at] ?? 0; IS_SPACE[byte] === 1; byte = bytes[++at] ?? 0)
    if (byte !== SPACE) walk.hasBreaks = true; // or a tab, which costs a second look
  walk.at = at;
}

/**
 * Leaves out each member that is followed by one of the same name in its object, as JSON.parse does: the engine would read
 * the first. What stays is exact. @param bytes valid JSON
 */
export function dropDuplicates(bytes: Buffer): Buffer {
  const duplicates: Duplicates = { spans: [], objects: [] };
  scanJson(bytes, { duplicates });
  return duplicates.spans.length === 0 ? bytes : without(bytes, duplicates);
}

/** A member of a JSON object: its decoded name and the exact text of its value. */
export interface Member {
  readonly name: string;
  readonly text: string;
}

/** Cuts out members, exactly: parsing would reorder keys that look like numbers, and round integers. @throws NOT_JSON */
export function cutMembers(text: string): Member[] {
  const { spans, cut } = scanText(text, 'object');
  return Array.from({ length: spans.length / MEMBER_SPANS }, (_, i) => ({
    name: readString(cut(MEMBER_SPANS * i)),
    text: cut(MEMBER_SPANS * i + 2),
  }));
}

/** Cuts the elements of a JSON array out of its text; see `cutMembers`. */
export function cutElements(text: string): string[] {
  const { spans, cut } = scanText(text, 'array');
  return Array.from({ length: spans.length / 2 }, (_, i) => cut(2 * i));
}

function scanText(text: string, kind: JsonScan['kind']) {
  const bytes = Buffer.from(text);
  const { spans, ...scanned } = scanJson(bytes);
  if (scanned.kind !== kind) throw NOT_JSON;
  const isText = isAscii(bytes);
  const cut = (at: number) =>
    isText ? text.slice(spans[at], spans[at + 1]) : bytes.toString('utf8', spans[at], spans[at + 1]);
  return { spans, cut };
}
