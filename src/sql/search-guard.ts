import { applyEdits, type Edit, parseSql, type Word } from './parse.ts';
import { writeValue } from './sql.ts';

// Matches nothing. As the first of two alternatives it changes no match and no group, and ClickHouse, which derives
// from a pattern what all of its alternatives need, derives nothing.
const NOTHING = String.raw`[^\s\S]|`;
const NOTHING_TEXT = writeValue(NOTHING);

/** Functions with a pattern, in lower case, and the place of their pattern. */
const CALLS: ReadonlyMap<string, number> = new Map([
  ...`match regexp_matches extract extractall countmatches countmatchescaseinsensitive replaceregexpall regexp_replace
    regexpextract regexp_extract regexp_substr regexpposition regexpinstr regexp_instr like notlike`
    .split(/\s+/)
    .map((name) => [name, 1] as const),
  ['splitbyregexp', 0],
]);
const OPERATORS = /^(?:REGEXP|RLIKE|LIKE)$/;
// The names of all of them, and few others: most words of a statement are none.
const SEARCH = /match|regexp|like|extract/i;
const LIKE = /^(?:not)?like$/i;

// These show a statement and search nothing; the sandbox checks their output.
const EXPLAINS_TEXT = /^EXPLAIN (?:AST|QUERY TREE) /;

/** A search of a statement, and the guard of its pattern. */
interface Search {
  readonly isLike: boolean;
  /** The texts and parameters that its pattern is joined of; `undefined` if the engine computes it from more. */
  readonly parts: readonly Word[] | undefined;
  readonly edits: readonly Edit[];
}

/**
 * The SQL with a guard before each pattern, if a text in it or a value is one that ClickHouse may read wrongly; its
 * meaning is the same.
 *
 * Before it searches rows, ClickHouse derives from a pattern which granules of the index and of the sorted table cannot
 * match, and which text every match contains. On 26.7.2 some of this is wrong, and rows are lost:
 *
 * - `(?i)(A|B)` and other groups with flags are looked up case-sensitively in an index of substrings;
 * - `x(?i)*`, `x\Q\E*`, `[[]`, `[]a]` and `é?` are read in another way than RE2 reads them;
 * - the look-up omits backslashes of a LIKE pattern.
 *
 * With common syntax alone, the index serves. Every statement gets its guards here, on every engine: no author can
 * forget them.
 *
 * @param getText the text of a parameter of the SQL
 */
export function guardSearches(sql: string, getText: (parameter: string) => string): string {
  const misread = findSearches(sql).filter(({ isLike, parts }) => {
    const texts = parts?.map(({ kind, text }) => (kind === 'text' ? readText(text) : getText(text.slice(1))));
    if (texts === undefined) return true;
    const joined = texts.join('');
    return isLike ? joined.includes('\\') : ![...texts, joined].every(isPlainPattern);
  });
  return applyEdits(
    sql,
    misread.flatMap(({ edits }) => edits),
  );
}

/** A pattern of `match` and the like, as a literal with its guard. */
export function guardPattern(pattern: string): string {
  return writeValue(isPlainPattern(pattern.toWellFormed()) ? pattern : NOTHING + pattern);
}

/** The same for LIKE: the result of `identity` is not a constant when data is skipped, and is one when rows are searched. */
export function guardLike(pattern: string): string {
  return pattern.includes('\\') ? `identity(${writeValue(pattern)})` : writeValue(pattern);
}

function findSearches(sql: string): readonly Search[] {
  if (EXPLAINS_TEXT.test(sql)) return [];
  const { words } = parseSql(sql);
  return words.flatMap((word, i) => (SEARCH.test(nameOf(word)) ? (readSearch(words, i) ?? []) : []));
}

function readSearch(words: readonly Word[], i: number): Search | undefined {
  const name = nameOf(words[i]);
  const isLike = LIKE.test(name);
  const guard = isLike ? "identity('')" : NOTHING_TEXT;
  const [first, last] = findArgument(words, i) ?? [];
  if (first !== undefined && last !== undefined) {
    const [start, end] = [words[first]?.start ?? 0, words[last]?.end ?? 0];
    const edits = [
      { start, end: start, text: `concat(${guard}, ` },
      { start: end, end, text: ')' },
    ];
    return { isLike, parts: readParts(words, first, last), edits };
  }
  const next = words[i + 1];
  if (next === undefined || !isOperator(name, next)) return undefined;
  const edits = [{ start: next.start, end: next.start, text: `${guard} || ` }];
  return { isLike, parts: readParts(words, i + 1), edits };
}

/** A literal's text, as far as it matters to a pattern. */
function readText(literal: string): string {
  return literal.slice(1, -1).replaceAll(/\\([\\'])|''/g, (_, sign = "'") => sign);
}

/** Whether a word searches what follows it. Columns may have these names, too. */
function isOperator(name: string, next: Word): boolean {
  return OPERATORS.test(name.toUpperCase()) && (isText(next) || /^(?:\(|CONCAT)$/.test(next.key));
}

function nameOf(word: Word | undefined): string {
  if (word?.kind === 'name') return word.text.slice(1, -1);
  return word?.kind === 'word' ? word.text : '';
}

const isText = ({ kind }: Word) => kind === 'text' || kind === 'parameter';

const JOINS = /^(?:CONCAT|[(),|])$/;

/**
 * The texts of a pattern; `undefined` if there is more in it than texts and what joins them. That of an operator has no
 * last word: it ends where nothing can be joined.
 */
function readParts(words: readonly Word[], first: number, last?: number): readonly Word[] | undefined {
  const depth = words[first]?.depth ?? 0;
  const parts: Word[] = [];
  for (let i = first; i <= (last ?? words.length); i++) {
    const word = words[i];
    if (word === undefined || word.depth < depth || (word.depth === depth && word.key === ',')) break;
    if (isText(word)) parts.push(word);
    else if (!JOINS.test(word.key)) {
      const isBehind = last === undefined && word.depth === depth && words[i - 1]?.key !== '|';
      return isBehind ? parts : undefined;
    }
  }
  return parts;
}

/**
 * The first and the last word of the pattern of the call at `i`; `undefined` if it is no call with a pattern. What is in
 * brackets is skipped at once: calls are nested as deep as a text is long.
 */
function findArgument(words: readonly Word[], i: number): readonly [number, number] | undefined {
  let place = CALLS.get(nameOf(words[i]).toLowerCase()) ?? -1;
  const end = place < 0 ? -1 : (words[i + 1]?.pair ?? -1);
  let first = i + 2;
  for (let at = first; at <= end; at++) {
    const { key, pair } = words[at] ?? { key: '', pair: -1 };
    if (at < end && key !== ',') at = Math.max(at, pair);
    else if (place-- === 0) return at > first ? [first, at - 1] : undefined;
    else first = at + 1;
  }
  return undefined;
}

/**
 * Parts of a pattern that ClickHouse reads as RE2 does. A pattern can be cut into them in only one way: with two ways,
 * each part would double the time.
 */
const PLAIN_PARTS = [
  /[^\\[\](){}?*+^$.|\0\x80-\u{10ffff}]/u, // an ASCII character without a meaning in patterns
  /[\x80-\u{10ffff}](?![?*{])/u, // ClickHouse makes only the last byte of such a character optional
  /\\[!-/:-@[-`{-~]/u, // an escaped sign
  /\\[dDwWsSbB]/u,
  /[.^$|)]/u,
  /\((?!\?)|\(\?:/u, // no flags and no names
  /\[(?!\^\])(?:[^\\[\]\0]|\\[!-/:-@[-`{-~]|\\[dDwWsS])+\]/u, // a class without brackets inside
  /(?:[*+?]|\{\d+(?:,\d*)?\})\??(?![*+?{])/u, // RE2 rejects a second one
];

const PLAIN = new RegExp(`^(?:${PLAIN_PARTS.map((part) => part.source).join('|')})*$`, 'u');

/** Whether a pattern has only the common syntax, beyond which ClickHouse skips some texts that match. */
export function isPlainPattern(pattern: string): boolean {
  return PLAIN.test(pattern);
}
