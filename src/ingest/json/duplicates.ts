import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  endOfScalar,
  endOfString,
  IS_SPACE,
  OPEN_BRACE,
  OPEN_BRACKET,
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

/** Where a member stands, up to the next one. */
interface Span {
  readonly start: number;
  end: number;
}

/**
 * Leaves out each member that is followed by one of the same name in its object, as JSON.parse does: the engine would read
 * the first. What stays is exact. It recurses: `bytes` are valid JSON that is nested no deeper than an event may be.
 *
 * @returns the same bytes if there is no such member
 */
export function dropDuplicates(bytes: Buffer): Buffer {
  const dropped: Span[] = [];
  let at = 0;

  /** Moves to the next token. @returns its first byte */
  function next(): number {
    while (IS_SPACE[bytes[at] ?? 0] === 1) at++;
    return bytes[at] ?? 0;
  }

  function pass(): void {
    const opening = next();
    if (opening === OPEN_BRACE || opening === OPEN_BRACKET) passItems(opening === OPEN_BRACE);
    else at = endOfScalar(bytes, at);
  }

  function passItems(areMembers: boolean): void {
    let members: Map<string, Span> | undefined; // a large event may have many empty objects
    let last: Span | undefined;
    at++;
    for (let first = next(); first !== CLOSE_BRACE && first !== CLOSE_BRACKET; first = next()) {
      if (first === COMMA) at++;
      else if (areMembers) {
        members ??= new Map();
        if (last !== undefined) last.end = at;
        last = { start: at, end: at };
        passMember(members, last);
      } else pass();
    }
    at++;
  }

  function passMember(members: Map<string, Span>, span: Span): void {
    at = endOfString(bytes, span.start);
    const name = readString(bytes.toString('utf8', span.start, at));
    const earlier = members.get(name);
    if (earlier !== undefined) dropped.push(earlier);
    members.set(name, span);
    next();
    at++; // the colon
    pass();
  }

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
