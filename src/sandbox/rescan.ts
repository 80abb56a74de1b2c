// A part of a pattern: an escape, a class (a `]` that comes first is a member), a count, or a single character.
const PART =
  /\\Q[\s\S]*?(?:\\E|$)|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\w+:\]|[^\]\\])*\]?|\{\d+(?:,\d*)?\}|[\s\S]/gu;
const QUANTIFIER = /^(?:[*+?]|\{\d+(?:,\d*)?\})$/;
const ENDLESS = /^(?:[*+]|\{\d+,\})$/;

interface Group {
  /** A part of it may repeat without end. */
  isEndless: boolean;
  hasChoice: boolean;
}

/**
 * Whether the time to find all matches of a pattern may grow with the square of the text. `x(.*y)?` matches at each x, and each time
 * the engine first looks for a y up to the end of the text, within one call that cannot be stopped.
 *
 * The time is linear if every part that repeats without end must match: then the text that it scanned has no further match. So a
 * group with `*`, `+` or `{n,}` in it must not be optional, repeated or one of several. Errs on the side of `true`.
 */
export function mayRescan(pattern: string): boolean {
  const groups: Group[] = [{ isEndless: false, hasChoice: false }];
  let closed: Group | undefined; // the group that ended just before this part
  for (const [part] of pattern.matchAll(PART)) {
    if (closed?.isEndless === true && QUANTIFIER.test(part)) return true;
    closed = part === ')' && groups.length > 1 ? groups.pop() : undefined;
    if (part === '(') groups.push({ isEndless: false, hasChoice: false });
    else takePart(groups.at(-1), part, closed);
    if (closed !== undefined && isBad(closed)) return true;
  }
  return groups.some(isBad);
}

function takePart(group: Group | undefined, part: string, closed: Group | undefined): void {
  if (group === undefined) return;
  group.hasChoice ||= part === '|';
  group.isEndless ||= ENDLESS.test(part) || closed?.isEndless === true;
}

function isBad({ isEndless, hasChoice }: Group): boolean {
  return isEndless && hasChoice;
}
