// A pattern without any of these is a plain text, which the engine looks for as such, however long it is.
const META = /[\\^$.|?*+()[\]{}]/;

const EVERY_META = new RegExp(META, 'g');

/** A pattern that matches this text and nothing else; a text without signs of a pattern is its own. */
export function escapePattern(text: string): string {
  return text.replaceAll(EVERY_META, '\\$&');
}

// One part of a pattern: an escape, a class (a `]` that comes first is a member), a count, or a single character.
const PART =
  /\\Q[\s\S]*?(?:\\E|$)|\\p\{[^}]*\}|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\w+:\]|[^\]\\])*\]?|\{(\d+)(,?)(\d*)\}|[\s\S]/gu;

/**
 * How large a regular expression is once its counted repetitions are written out: `(?:ab){3}` is 6. RE2 takes time in
 * proportion to that for every character that it reads, and nothing stops it within a block of rows, so a pattern of 30
 * characters whose repetitions multiply could hold a reader for minutes. Counts generously; 0 for a plain text.
 */
export function patternSize(pattern: string): number {
  if (!META.test(pattern)) return 0;
  const groups: Group[] = [{ before: 0, last: 0 }];
  for (const [part, from, , to] of pattern.matchAll(PART)) {
    const count = from === undefined ? undefined : Math.max(Number(from), Number(to || 0), 1);
    takePart(groups, part, count);
  }
  return groups.reduce((sum, group) => sum + sizeOf(group), 0);
}

/** An open group: the size of what is before its last part, and of the last part, which a count would multiply. */
interface Group {
  before: number;
  last: number;
}

function takePart(groups: Group[], part: string, count: number | undefined): void {
  if (part === '(') {
    groups.push({ before: 1, last: 0 });
    return;
  }
  // The outermost is never taken off, so a `)` too many is a part like any other.
  const closed = part === ')' && groups.length > 1 ? groups.pop() : undefined;
  const group = groups.at(-1);
  if (group === undefined) return;
  if (count !== undefined) {
    group.last *= count;
    return;
  }
  group.before += group.last;
  if (closed !== undefined) group.last = sizeOf(closed);
  else group.last = part.startsWith('\\Q') ? part.length : 1;
}

function sizeOf({ before, last }: Group): number {
  return before + last;
}
