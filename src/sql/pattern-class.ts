/** An estimate of a pattern's cost for RE2: hardly ever below RE2's own count, on average 1.5 times as much. */
export interface PatternCost {
  /** Instructions of RE2's program, with counted repetitions expanded and classes as ranges of UTF-8 bytes. */
  readonly size: number;
  /**
   * Places that add a bit to the automaton's state: classes, optional parts and alternations, each as often as a count repeats
   * it. A plain character adds none: whether it matched follows from the text just read.
   */
  readonly choices: number;
}

/** One character or class of a pattern, and the offset after it. */
export interface ReadClass {
  readonly end: number;
  readonly cost: PatternCost;
}

/** Instructions of RE2 for `\p{…}` or `\P{…}`, the larger of both, as RE2 counts them (`ProgramSize`, Unicode 14). */
const UNICODE_SIZES: Readonly<Record<string, number>> = {
  L: 1_201,
  Lo: 998,
  Ll: 888,
  Lu: 850,
  Mn: 810,
  M: 740,
  P: 581,
  S: 558,
  Po: 554,
  N: 476,
  So: 439,
  Mc: 433,
  Common: 406,
  No: 278,
  Nd: 269,
  Lm: 256,
  Sm: 173,
  Ps: 162,
  Pe: 158,
};
/** At most, of any other category or script. */
const OTHER_UNICODE_SIZE = 125;
/** The cost of a range beyond ASCII: each end may need a byte sequence of each length. */
const RANGE_SIZE = 12;
/** The cost of `.`, added for a negated class: all of Unicode but some of ASCII. */
export const ANY_SIZE = 10;

const PERL_SIZES: Readonly<Record<string, number>> = { d: 1, s: 3, w: 4, D: 11, S: 13, W: 14, C: 1 };

// Bounded: an escape is never scanned beyond RE2's longest.
const ESCAPE =
  /\\(?:[pP]\{(\^?\w{0,40})\}|[pP](\w)|x\{[0-9a-fA-F]{1,8}\}|x[0-9a-fA-F]{2}|[0-7]{2,3}|([\s\S]))/uy;
const POSIX = /\[:\^?(\w{1,10}):\]/y;

/** Reads the class or character at `at`: `[…]`, `.`, an escape, or a literal character. */
export function readClass(pattern: string, at: number): ReadClass {
  const sign = pattern.charAt(at);
  if (sign === '[') return readBracket(pattern, at);
  if (sign === '.') return { end: at + 1, cost: wide(ANY_SIZE) };
  if (sign === '\\') return readEscape(pattern, at);
  return readCharacter(pattern, at);
}

function wide(size: number): PatternCost {
  return { size, choices: 1 };
}

/** One instruction a byte. */
function readCharacter(pattern: string, at: number): ReadClass {
  const code = pattern.codePointAt(at) ?? 0;
  const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  return { end: at + (code < 0x10000 ? 1 : 2), cost: { size, choices: 0 } };
}

function readEscape(pattern: string, at: number): ReadClass {
  ESCAPE.lastIndex = at;
  const [text = '\\', long, short, letter] = ESCAPE.exec(pattern) ?? [];
  const end = at + text.length;
  const name = long ?? short;
  if (name !== undefined)
    return { end, cost: wide(UNICODE_SIZES[name.replace('^', '')] ?? OTHER_UNICODE_SIZE) };
  const perl = letter === undefined ? undefined : PERL_SIZES[letter];
  if (perl !== undefined) return { end, cost: wide(perl) };
  return { end, cost: { size: 4, choices: 0 } };
}

/** `[…]`: a `]` in the first place is a member. RE2 rejects a class without an end, which reaches to the pattern's end here. */
function readBracket(pattern: string, start: number): ReadClass {
  const isNegated = pattern.charAt(start + 1) === '^';
  const first = start + (isNegated ? 2 : 1);
  let size = isNegated ? ANY_SIZE : 0;
  let members = 0;
  let at = first;
  while (at < pattern.length && (at === first || pattern.charAt(at) !== ']')) {
    const member = readMember(pattern, at);
    size += member.cost.size;
    members += member.cost.choices + 1;
    at = member.end;
  }
  const isOne = members === 1 && !isNegated;
  return { end: at + 1, cost: { size: Math.max(size, 1), choices: isOne ? 0 : 1 } };
}

/** A character, a range or a class within a class; a range has a choice. */
function readMember(pattern: string, at: number): ReadClass {
  POSIX.lastIndex = at;
  const posix = pattern.charAt(at) === '[' ? POSIX.exec(pattern) : null;
  if (posix !== null) return { end: at + posix[0].length, cost: wide(ANY_SIZE + 4) };
  const one = readOne(pattern, at);
  const isRange =
    one.cost.choices === 0 &&
    pattern.charAt(one.end) === '-' &&
    !['', ']'].includes(pattern.charAt(one.end + 1));
  if (!isRange) return one;
  const last = readOne(pattern, one.end + 1);
  const isAscii = one.end - at === 1 && last.end - one.end === 2 && last.cost.size === 1;
  return { end: last.end, cost: wide(isAscii ? 1 : RANGE_SIZE) };
}

function readOne(pattern: string, at: number): ReadClass {
  return pattern.charAt(at) === '\\' ? readEscape(pattern, at) : readCharacter(pattern, at);
}
