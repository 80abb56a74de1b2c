import { createRequire } from 'node:module';
import { messageOf } from '../errors.ts';

// A part of a pattern: an escape, a class (a `]` that comes first is a member), a count, or a single character.
const PART =
  /\\Q[\s\S]*?(?:\\E|$)|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\w+:\]|[^\]\\])*\]?|\{\d+(?:,\d*)?\}|[\s\S]/gu;
const COUNT = /^\{(\d+)(?:,(\d*))?\}$/;
const ENDLESS = /^(?:[*+]|\{\d+,\})$/;
const QUANTIFIER = /^(?:[*+?]|\{\d+(?:,\d*)?\})$/;

/** A pattern that matches only this text; a text without special characters is returned as it is. */
export function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.|?*+()[\]{}]/g, '\\$&');
}

/** Longest pattern, UTF-8, checked before the pattern is read. People write at most some hundred bytes. */
export const PATTERN_BYTES_MAX = 4_096;
// Compiling `.{0,999}` as often as fits into the bytes would hold the event loop for 8 s, and take RE2 more than its memory.
const WRITTEN_OUT_MAX = 2_000;

/** Why a pattern is rejected, as the end of a sentence that begins with the parameter; `undefined` if it is accepted. */
export function findPatternFault(pattern: string): string | undefined {
  const fault = findLongFault(pattern);
  if (fault !== undefined) return fault;
  const length = lengthWrittenOut(pattern);
  return length > WRITTEN_OUT_MAX
    ? `is too large a pattern: ${length} characters with its counts written out; at most ${WRITTEN_OUT_MAX}`
    : undefined;
}

/** The same for a pattern of LIKE. */
export function findLongFault(pattern: string): string | undefined {
  return Buffer.byteLength(pattern) > PATTERN_BYTES_MAX
    ? `must be at most ${PATTERN_BYTES_MAX} bytes long, as a pattern`
    : undefined;
}

/** Characters of a pattern in which each part with a count is repeated as often as the count says. */
function lengthWrittenOut(pattern: string): number {
  // Each open group has the length of its parts before the last, and of the last, which a count multiplies.
  const groups = [{ before: 0, last: 0 }];
  const push = (length: number) => {
    const group = groups.at(-1);
    if (group === undefined) return;
    group.before += group.last;
    group.last = length;
  };
  for (const [part] of pattern.matchAll(PART)) {
    const [, from, to] = COUNT.exec(part) ?? [];
    const group = groups.at(-1);
    if (part === '(') groups.push({ before: 0, last: 0 });
    else if (from !== undefined && group !== undefined)
      group.last *= Math.max(1, Number(from), Number(to ?? 0));
    else if (part !== ')' || groups.length === 1) push(part.length);
    else if (groups.pop() !== undefined && group !== undefined) push(group.before + group.last + 2);
  }
  return groups.reduce((sum, { before, last }) => sum + before + last, 0);
}

/** The capturing groups of a pattern, with their brackets. */
export function findGroups(pattern: string): string[] {
  const open: number[] = [];
  const found: string[] = [];
  for (const { 0: part, index } of pattern.matchAll(PART)) {
    if (part === '(') open.push(index);
    const start = part === ')' ? open.pop() : undefined;
    if (start !== undefined && /^\((?!\?)|^\(\?P?</.test(pattern.slice(start, start + 4)))
      found.push(pattern.slice(start, index + 1));
  }
  return found;
}

interface Group {
  /** A part of it may repeat without end. */
  isEndless: boolean;
  hasChoice: boolean;
}

/**
 * Whether the time to find all matches of a pattern may grow with the square of the text. `x(.*y)?` matches at each x,
 * and each time the engine first looks for a y up to the end of the text, within one call that cannot be stopped.
 *
 * The time is linear if every part that repeats without end must match: then the text that it scanned has no further
 * match. So a group with `*`, `+` or `{n,}` in it must not be optional, repeated or one of several. Errs on the side of
 * `true`.
 */
export function mayRescan(pattern: string): boolean {
  const groups: Group[] = [{ isEndless: false, hasChoice: false }];
  let closed: Group | undefined; // the group that ended just before this part
  for (const [part] of pattern.matchAll(PART)) {
    if (closed?.isEndless === true && QUANTIFIER.test(part)) return true;
    closed = part === ')' && groups.length > 1 ? groups.pop() : undefined;
    const group = groups.at(-1);
    if (part === '(') groups.push({ isEndless: false, hasChoice: false });
    else if (group !== undefined) {
      group.hasChoice ||= part === '|';
      group.isEndless ||= ENDLESS.test(part) || closed?.isEndless === true;
    }
    if (closed !== undefined && isBad(closed)) return true;
  }
  return groups.some(isBad);
}

function isBad({ isEndless, hasChoice }: Group): boolean {
  return isEndless && hasChoice;
}

/** Finds a pattern of RE2 in texts, in a time linear in their length. */
export interface Matcher {
  /** Whether the pattern is found anywhere in the text. */
  matches(text: string): boolean;
  /** Whether JavaScript can compile the pattern, so that JSON Schemas can have it. */
  readonly isOfJavaScript: boolean;
}

const load = createRequire(import.meta.url);

/** @returns why RE2 rejects the pattern, as the end of a sentence that begins with its name */
function compile(pattern: string) {
  const { RE2JS } = load('re2js') as typeof import('re2js'); // its own types; loaded only if it is used
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    return `is not a pattern of RE2: ${messageOf(error)}`;
  }
}

/** @returns why RE2 rejects the pattern, as the end of a sentence that begins with its name */
export function createMatcher(pattern: string): Matcher | string {
  const compiled = compile(pattern);
  if (typeof compiled === 'string') return compiled;
  return { matches: (text) => compiled.test(text), isOfJavaScript: isOfJavaScript(pattern) };
}

// Instructions of a compiled pattern: each may be looked at for each character.
const PROGRAM_SIZE_MAX = 500;

/** Replaces a text. @param onMatch called between matches if their time may grow with the square of the text */
export type ReplaceFound = (text: string, onMatch: () => void) => string;

/**
 * Returns a function that replaces what a pattern of RE2 finds; `$1` in the replacement is the first group. For a pattern
 * that cannot be used, returns why, as the end of a sentence that begins with its name.
 */
export function createReplace(pattern: string, replacement: string): ReplaceFound | string {
  const compiled = compile(pattern);
  if (typeof compiled === 'string') return compiled;
  const size = compiled.programSize();
  if (size > PROGRAM_SIZE_MAX)
    return `is too large: it compiles to ${size} instructions; at most ${PROGRAM_SIZE_MAX} are allowed`;
  if (compiled.test('')) return 'must not match an empty text';
  const isSlow = mayRescan(pattern);
  return (text, onMatch) => {
    if (!compiled.test(text)) return text;
    if (isSlow) for (const matcher = compiled.matcher(text); matcher.find(); ) onMatch();
    return compiled.matcher(text).replaceAll(replacement);
  };
}

function isOfJavaScript(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').unicode;
  } catch {
    return false;
  }
}
