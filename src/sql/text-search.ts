import { isClosing, isOpening, parseSql, type Word } from './parse.ts';

/** An argument in SQL that a text is searched for. */
export interface TextSearch {
  /** Offsets of the argument in the SQL; `end` equals `start` if a guard has no text after the argument. */
  readonly start: number;
  readonly end: number;
  readonly kind: SearchKind;
  /** The texts and parameters that the argument joins; `undefined` if it has anything else. */
  readonly parts: readonly SearchPart[] | undefined;
}

/** Kind of argument: a pattern by which data can be skipped, another pattern, a LIKE pattern, one text or several. */
export type SearchKind = 'match' | 'pattern' | 'like' | 'text';
type SearchPart = { readonly text: string } | { readonly parameter: string };

/** Functions by which ClickHouse skips data, and functions of patterns, in lower case, with the place of the argument. */
const ARGUMENTS: readonly (readonly [names: string, kind: SearchKind, at: number])[] = [
  ['match regexp_matches', 'match', 1],
  [
    `extract extractall countmatches countmatchescaseinsensitive replaceregexpall regexp_replace regexpextract regexp_extract
    regexp_substr regexpposition regexpinstr regexp_instr`,
    'pattern',
    1,
  ],
  ['splitbyregexp', 'pattern', 0],
  ['like notlike', 'like', 1],
  ['startswith endswith multisearchany', 'text', 1],
];

const FUNCTIONS = new Map(
  ARGUMENTS.flatMap(([names, kind, at]) => names.split(/\s+/).map((name) => [name, { kind, at }] as const)),
);

const OPERATORS = new Map<string, SearchKind>(
  Object.entries({ regexp: 'match', rlike: 'match', like: 'like' }),
);

// These show a statement and search nothing; the sandbox checks their output.
const EXPLAINS_TEXT = /^EXPLAIN (?:AST|QUERY TREE) /;

/** The searches of a statement, by the tokens of its SQL. Takes linear time. */
export function findTextSearches(sql: string): TextSearch[] {
  if (EXPLAINS_TEXT.test(sql)) return [];
  const { words } = parseSql(sql);
  return words.flatMap(({ kind }, i) => {
    if (kind !== 'word' && kind !== 'name') return [];
    return findCall(words, i) ?? findOperator(words, i) ?? [];
  });
}

function findCall(words: readonly Word[], i: number): TextSearch | undefined {
  const [name, open] = [words[i], words[i + 1]];
  if (name === undefined || open?.key !== '(') return undefined;
  const called = FUNCTIONS.get(readName(name.text).toLowerCase());
  if (called === undefined) return undefined;
  // `value LIKE (…)` is the operator.
  if (OPERATORS.has(name.key.toLowerCase()) && followsValue(words, i)) return undefined;
  const { from, to } = findArgument(words, i + 1, called.at);
  const [first, last] = [words[from], words[to - 1]];
  if (to <= from || first === undefined || last === undefined) return undefined;
  const joined = readJoined(words, from, called.kind === 'text');
  return {
    kind: called.kind,
    start: first.start,
    end: last.end,
    parts: joined?.end === to ? joined.parts : undefined,
  };
}

/** The words from `from`, before `to`, of an argument within the bracket at `open`; none if there is none. */
function findArgument(words: readonly Word[], open: number, place: number): { from: number; to: number } {
  const close = words[open]?.pair ?? -1;
  const ends = [open];
  for (let i = open + 1; i <= close && ends.length < place + 2; i++) {
    const word = words[i];
    if (word?.key === ',' || i === close) ends.push(i);
    else if (word !== undefined && isOpening(word) && word.pair !== -1) i = word.pair;
  }
  const from = (ends[place] ?? close) + 1;
  return { from, to: ends[place + 1] ?? from };
}

/** The name of a function; in quotes it may have escapes. */
function readName(written: string): string {
  if (/^\w/.test(written)) return written;
  return written
    .slice(1, -1)
    .replaceAll(/\\x([\da-f]{2})|\\/gi, (_, code?: string) =>
      code === undefined ? '' : String.fromCharCode(Number.parseInt(code, 16)),
    );
}

function findOperator(words: readonly Word[], i: number): TextSearch | undefined {
  const kind = OPERATORS.get(words[i]?.key.toLowerCase() ?? '');
  const next = words[i + 1];
  if (kind === undefined || next === undefined) return undefined;
  // Columns may have the names of keywords. Between a word and a text, LIKE is always the operator, as in `by LIKE 'x'`.
  const isText = ['text', 'parameter'].includes(next.kind) || next.key === 'CONCAT';
  const isSure = isText && words[i - 1]?.kind === 'word';
  if (!isSure && !followsValue(words, i)) return undefined;
  if (next.kind === 'sign' && !isOpening(next) && next.key !== '-') return undefined; // a column of this name
  const joined = readJoined(words, i + 1, false);
  const after = words[joined?.end ?? 0];
  const ends = after === undefined || ENDS.has(after.key);
  return { kind, start: next.start, end: next.start, parts: ends ? joined?.parts : undefined };
}

// Longest argument that is read, so that the time is linear in the SQL's length. A longer one counts as not plain.
const WORDS_MAX = 300;

/** What may follow a complete operand. */
const ENDS = new Set(
  ') , AND OR THEN ELSE END AS FROM WHERE PREWHERE GROUP ORDER HAVING LIMIT UNION'.split(' '),
);

const BEFORE_A_VALUE = new Set(
  'WITH SELECT DISTINCT WHERE PREWHERE QUALIFY AND OR XOR BY AS ON HAVING CASE WHEN THEN ELSE IN'.split(' '),
);

/** Whether a value ends before this place, so that an operator may follow; `NOT LIKE` is one operator. */
function followsValue(words: readonly Word[], i: number): boolean {
  const before = words[i - 1];
  if (before === undefined) return false;
  if (before.kind === 'sign') return isClosing(before);
  if (words[i - 2]?.key === '.') return true; // a column of a table
  if (before.key === 'NOT') return followsValue(words, i - 1);
  return !BEFORE_A_VALUE.has(before.key);
}

/**
 * Reads texts and parameters joined by `||` or `concat`, also in lists if `inLists`, up to a word that does not belong to them.
 *
 * @returns `undefined` for anything else
 */
function readJoined(words: readonly Word[], from: number, inLists: boolean) {
  const near = words.slice(from, from + WORDS_MAX);
  const parts: SearchPart[] = [];
  for (let i = 0; ; ) {
    while (opensList(near, i, inLists)) i++;
    const part = readPart(near[i++]);
    if (part === undefined) return undefined;
    parts.push(part);
    while (closesList(near[i], from)) i++;
    const joining = countJoining(near, i);
    if (joining === 0) return i < WORDS_MAX ? { parts, end: from + i } : undefined;
    i += joining;
  }
}

/** Words between two operands, at `i`: those of `||`, or a comma within a list. */
function countJoining(words: readonly Word[], i: number): number {
  if (words[i]?.key === '|' && words[i + 1]?.key === '|') return 2;
  return words[i]?.key === ',' && words[i]?.depth !== words[0]?.depth ? 1 : 0;
}

/** Whether a word ends a list that began at `from` or later. */
function closesList(word: Word | undefined, from: number): boolean {
  return word !== undefined && isClosing(word) && word.pair >= from;
}

/** Whether a word is one of `concat(`, or of `[` if `inLists`. */
function opensList(words: readonly Word[], i: number, inLists: boolean): boolean {
  const key = words[i]?.key;
  if (key === '(') return words[i - 1]?.key === 'CONCAT';
  return key === 'CONCAT' ? words[i + 1]?.key === '(' : inLists && key === '[';
}

function readPart(word: Word | undefined): SearchPart | undefined {
  if (word?.kind === 'parameter') return { parameter: word.text.slice(1) };
  const text = word?.kind === 'text' ? readText(word.text) : undefined;
  return text === undefined ? undefined : { text };
}

// Escaped backslashes, quotes and slashes stand for themselves; a backslash before another sign or class of a pattern stays.
// Texts with other escapes, such as single bytes, are not read.
const TEXT = /^'((?:[^'\\]|''|\\[\\'/.\-[\](){}+*?|^$dDwWsS])*)'$/;

/** The text of a literal; `undefined` if it has other escapes. */
function readText(literal: string): string | undefined {
  const inside = TEXT.exec(literal)?.[1];
  return inside?.replaceAll(/''|\\([\\'/])/g, (both, one: string | undefined) => one ?? both.slice(1));
}
