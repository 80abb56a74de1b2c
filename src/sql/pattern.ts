import { ANY_SIZE, type PatternCost, readClass } from './pattern-class.ts';

// A pattern without any of these is a plain text, which the engine searches without RE2.
const META = /[\\^$.|?*+()[\]{}]/;

/** A pattern that matches only this text; a text without special characters is returned as it is. */
export function escapePattern(text: string): string {
  return text.replaceAll(new RegExp(META, 'g'), '\\$&');
}

/** Longest pattern, UTF-8, checked before the pattern is parsed. People write at most some hundred bytes. */
export const PATTERN_BYTES_MAX = 4_096;
const TOO_LONG = `must be at most ${PATTERN_BYTES_MAX} bytes long, as a pattern`;
/** Largest `size`: two of the costliest class, `\pL`, fit. */
const PATTERN_SIZE_MAX = 2_500;
/** Each choice doubles the states of RE2's automaton. With up to this many, all states fit into its memory. */
const CHOICES_MAX = 12;
/** Largest `size` with more choices, plus `CHOICE_SIZE` for each: the engine then matches a block of rows in about a second at worst. */
const LOOSE_SIZE_MAX = 350;
const CHOICE_SIZE = 2;

/**
 * Why a pattern is rejected, as the end of a sentence that begins with the parameter; `undefined` if it is accepted.
 *
 * RE2 reads a text in one pass and cannot be stopped within a block of rows. A byte takes a few nanoseconds while the states of the
 * automaton fit into RE2's memory, and a time in proportion to the program's size if each byte needs a new state.
 * bench/NOTES.md has the figures.
 */
export function findPatternFault(pattern: string): string | undefined {
  if (!META.test(pattern)) return undefined;
  if (Buffer.byteLength(pattern) > PATTERN_BYTES_MAX) return TOO_LONG;
  return findCostFault(patternCost(pattern));
}

/** The same for a pattern of LIKE, which the engine translates for RE2: `%` is `.*` and `_` is `.`. */
export function findLikeFault(pattern: string): string | undefined {
  const bytes = Buffer.byteLength(pattern);
  if (bytes > PATTERN_BYTES_MAX) return TOO_LONG;
  const choices = pattern.match(/[%_]/g)?.length ?? 0;
  return findCostFault({ size: bytes + choices * ANY_SIZE, choices });
}

function findCostFault({ size, choices }: PatternCost): string | undefined {
  if (size > PATTERN_SIZE_MAX)
    return `is too large a pattern: ${count(size)} instructions with its counts and classes written out; at most ${PATTERN_SIZE_MAX}`;
  const looseSize = size + CHOICE_SIZE * choices;
  if (choices > CHOICES_MAX && looseSize > LOOSE_SIZE_MAX)
    return `is too costly a pattern: ${count(looseSize)} instructions, with ${count(choices)} choices as ${CHOICE_SIZE} each; at most ${LOOSE_SIZE_MAX} with more than ${CHOICES_MAX} choices. Use * in place of counts, or fewer classes`;
  return undefined;
}

function count(cost: number): string {
  return cost > Number.MAX_SAFE_INTEGER ? 'more than 10^15' : String(cost);
}

/** The cost of a pattern, read once from left to right. A plain text costs nothing. */
function patternCost(pattern: string): PatternCost {
  if (!META.test(pattern)) return NOTHING;
  const groups: Group[] = [openGroup()];
  let at = 0;
  while (at < pattern.length) at = readPart(pattern, at, groups);
  return groups.map(closeGroup).reduce(add, NOTHING);
}

/** The capturing groups of a pattern, with their brackets. */
export function findGroups(pattern: string): string[] {
  const open: number[] = [];
  const groups: Group[] = [openGroup()];
  const found: string[] = [];
  for (let at = 0; at < pattern.length; ) {
    const depth = groups.length;
    const end = readPart(pattern, at, groups);
    if (groups.length > depth) open.push(at);
    const start = groups.length < depth ? open.pop() : undefined;
    if (start !== undefined && /^\((?!\?)|^\(\?P?</.test(pattern.slice(start, start + 4)))
      found.push(pattern.slice(start, end));
    at = end;
  }
  return found;
}

const NOTHING: PatternCost = { size: 0, choices: 0 };

function add(a: PatternCost, b: PatternCost): PatternCost {
  return { size: a.size + b.size, choices: a.choices + b.choices };
}

/** An open group: the cost of its parts before the last, and of the last, which a count would multiply. */
interface Group {
  before: PatternCost;
  last: PatternCost;
  hasBranches: boolean;
}

const openGroup = (): Group => ({ before: NOTHING, last: NOTHING, hasBranches: false });

/** Adds the two instructions of a capture, or the jumps of an alternation. */
function closeGroup({ before, last, hasBranches }: Group): PatternCost {
  return add(add(before, last), { size: 2, choices: hasBranches ? 1 : 0 });
}

function push(group: Group, part: PatternCost): void {
  group.before = add(group.before, group.last);
  group.last = part;
}

// `{3}`, `{3,}`, `{3,5}`. Sticky and bounded, so that it never scans the digits of a text that is not a count.
const COUNT = /\{(\d{1,9})(,?)(\d{0,9})\}/y;
// `(?i:`, `(?P<name>`: the opening of a group is not a part by itself.
const GROUP_OPENING = /\(\?(?:P?<\w{0,100}>|[a-zA-Z-]{0,20}:)?/y;

/** Reads the part at `at`. @returns the offset of the next one */
function readPart(pattern: string, at: number, groups: Group[]): number {
  const group = groups.at(-1) ?? openGroup(); // the outermost group is never removed
  const sign = pattern.charAt(at);
  if (sign === '(') {
    groups.push(openGroup());
    GROUP_OPENING.lastIndex = at;
    return at + (GROUP_OPENING.exec(pattern)?.[0].length ?? 1);
  }
  if (sign === ')' && groups.length > 1) {
    groups.pop();
    push(groups.at(-1) ?? group, closeGroup(group));
    return at + 1;
  }
  if (sign === '|') {
    push(group, { size: 1, choices: 0 });
    group.hasBranches = true;
    return at + 1;
  }
  if (sign === '*' || sign === '+' || sign === '?') {
    group.last = { size: group.last.size + 1, choices: Math.max(group.last.choices, 1) };
    return at + 1;
  }
  COUNT.lastIndex = at;
  const counted = COUNT.exec(pattern);
  if (counted !== null) {
    group.last = repeat(group.last, counted);
    return at + counted[0].length;
  }
  if (pattern.startsWith('\\Q', at)) return readQuoted(pattern, at + 2, group);
  const { end, cost } = readClass(pattern, at);
  push(group, cost);
  return end;
}

/** `\Q…\E`: literal characters; a count would multiply the last. */
function readQuoted(pattern: string, start: number, group: Group): number {
  const close = pattern.indexOf('\\E', start);
  const end = close === -1 ? pattern.length : close;
  push(group, { size: Math.max(end - start - 1, 0) * UNIT_BYTES_MAX, choices: 0 });
  push(group, { size: UNIT_BYTES_MAX, choices: 0 });
  return close === -1 ? end : end + 2;
}

const UNIT_BYTES_MAX = 3; // UTF-8 bytes of a UTF-16 unit

function repeat({ size, choices }: PatternCost, [, from, comma, to]: RegExpExecArray): PatternCost {
  const least = Number(from);
  const times = Math.max(least, Number(to || 0), 1) + (comma !== '' && to === '' ? 1 : 0);
  const isOpen = comma !== '' && times > least;
  // Of `x{1,3}` each copy may be the last.
  const copy = isOpen ? { size: size + 1, choices: Math.max(choices, 1) } : { size, choices };
  return { size: copy.size * times, choices: copy.choices * times };
}
