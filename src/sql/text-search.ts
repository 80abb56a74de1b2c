import { readWords, type Word } from './token.ts';

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

/** The searches of a statement, by the tokens of its SQL. */
export function findTextSearches(sql: string): TextSearch[] {
  if (EXPLAINS_TEXT.test(sql)) return [];
  const words = readWords(sql);
  const brackets = findBrackets(words);
  const searches: TextSearch[] = [];
  for (const [i, { kind }] of words.entries()) {
    if (kind !== 'word' && kind !== 'name') continue;
    const search = findCall(words, i, brackets) ?? findOperator(words, i);
    if (search !== undefined) searches.push(search);
  }
  return searches;
}

function findCall(
  words: readonly Word[],
  i: number,
  brackets: ReadonlyMap<number, readonly number[]>,
): TextSearch | undefined {
  const name = words[i];
  if (name === undefined || words[i + 1]?.text !== '(') return undefined;
  const called = FUNCTIONS.get(readName(name.text).toLowerCase());
  if (called === undefined) return undefined;
  // `value LIKE (…)` is the operator.
  if (OPERATORS.has(name.text.toLowerCase()) && followsValue(words, i)) return undefined;
  const ends = brackets.get(i + 1) ?? [];
  const from = called.at === 0 ? i + 2 : (ends[called.at - 1] ?? i + 1) + 1;
  const to = ends[called.at] ?? from;
  const [first, last] = [words[from], words[to - 1]];
  if (to <= from || first === undefined || last === undefined) return undefined;
  const joined =
    to - from > WORDS_MAX ? undefined : readJoined(words.slice(from, to), called.kind === 'text');
  const parts = joined?.rest.length === 0 ? joined.parts : undefined;
  return { kind: called.kind, start: first.start, end: last.end, parts };
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
  const word = words[i];
  const kind = word?.kind === 'word' ? OPERATORS.get(word.text.toLowerCase()) : undefined;
  const next = words[i + 1];
  if (kind === undefined || next === undefined) return undefined;
  // Columns may have the names of keywords. Between a word and a text, LIKE is always the operator, as in `by LIKE 'x'`.
  const isText = ['text', 'parameter'].includes(next.kind) || next.text.toLowerCase() === 'concat';
  const isSure = isText && words[i - 1]?.kind === 'word';
  if (!isSure && !followsValue(words, i)) return undefined;
  if (next.kind === 'sign' && !'([{-'.includes(next.text)) return undefined; // a column of this name
  const joined = readJoined(words.slice(i + 1, i + 1 + WORDS_MAX), false);
  const after = joined?.rest[0];
  const ends =
    after === undefined || after.text === ')' || after.text === ',' || ENDS.has(after.text.toUpperCase());
  return { kind, start: next.start, end: next.start, parts: ends ? joined?.parts : undefined };
}

// Longest argument that is read, so that the time is linear in the SQL's length. A longer one counts as not plain.
const WORDS_MAX = 300;

/** Keywords that may follow a complete operand. */
const ENDS = new Set('AND OR THEN ELSE END AS FROM WHERE PREWHERE GROUP ORDER HAVING LIMIT UNION'.split(' '));

const BEFORE_A_VALUE = new Set(
  'WITH SELECT DISTINCT WHERE PREWHERE QUALIFY AND OR XOR BY AS ON HAVING CASE WHEN THEN ELSE IN'.split(' '),
);

/** Whether a value ends before this place, so that an operator may follow; `NOT LIKE` is one operator. */
function followsValue(words: readonly Word[], i: number): boolean {
  const before = words[i - 1];
  if (before === undefined) return false;
  if (before.kind === 'sign') return [')', ']', '}'].includes(before.text);
  if (words[i - 2]?.text === '.') return true; // a column of a table
  if (before.text.toUpperCase() === 'NOT') return followsValue(words, i - 1);
  return !BEFORE_A_VALUE.has(before.text.toUpperCase());
}

/** Opening bracket → the commas between its arguments and its closing bracket, by index. */
function findBrackets(words: readonly Word[]): Map<number, number[]> {
  const brackets = new Map<number, number[]>();
  const open: { at: number; ends: number[] }[] = [];
  for (const [i, { kind, text }] of words.entries()) {
    if (kind !== 'sign') continue;
    if ('([{'.includes(text)) open.push({ at: i, ends: [] });
    if (',)]}'.includes(text)) open.at(-1)?.ends.push(i);
    const closed = ')]}'.includes(text) ? open.pop() : undefined;
    if (closed !== undefined) brackets.set(closed.at, closed.ends);
  }
  return brackets;
}

interface Joined {
  readonly parts: SearchPart[];
  readonly rest: readonly Word[];
}

/** Reads texts and parameters joined by `||` or `concat`, also in lists if `inLists`; `undefined` for anything else. */
function readJoined(words: readonly Word[], inLists: boolean): Joined | undefined {
  const first = readOne(words, inLists);
  if (first === undefined || first.rest[0]?.text !== '|' || first.rest[1]?.text !== '|') return first;
  const others = readJoined(first.rest.slice(2), inLists);
  return others && { parts: [...first.parts, ...others.parts], rest: others.rest };
}

function readOne(words: readonly Word[], inLists: boolean): Joined | undefined {
  const [first, second] = words;
  if (first?.kind === 'parameter')
    return { parts: [{ parameter: first.text.slice(1) }], rest: words.slice(1) };
  const text = first?.kind === 'text' ? readText(first.text) : undefined;
  if (text !== undefined) return { parts: [{ text }], rest: words.slice(1) };
  const isConcat = first?.text.toLowerCase() === 'concat' && second?.text === '(';
  if (isConcat) return readList(words.slice(2), inLists);
  return inLists && first?.text === '[' ? readList(words.slice(1), inLists) : undefined;
}

/** Reads up to the closing bracket. */
function readList(words: readonly Word[], inLists: boolean): Joined | undefined {
  const one = readJoined(words, inLists);
  const [sign] = one?.rest ?? [];
  if (one === undefined || sign === undefined) return undefined;
  if (sign.text === ')' || sign.text === ']') return { ...one, rest: one.rest.slice(1) };
  const others = sign.text === ',' ? readList(one.rest.slice(1), inLists) : undefined;
  return others && { parts: [...one.parts, ...others.parts], rest: others.rest };
}

// Escaped backslashes, quotes and slashes stand for themselves; a backslash before another sign or class of a pattern stays.
// Texts with other escapes, such as single bytes, are not read.
const TEXT = /^'((?:[^'\\]|''|\\[\\'/.\-[\](){}+*?|^$dDwWsS])*)'$/;

/** The text of a literal; `undefined` if it has other escapes. */
function readText(literal: string): string | undefined {
  const inside = TEXT.exec(literal)?.[1];
  return inside?.replaceAll(/''|\\([\\'/])/g, (both, one: string | undefined) => one ?? both.slice(1));
}
