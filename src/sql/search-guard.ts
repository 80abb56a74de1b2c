import { LRUCache } from 'lru-cache';
import { applyEdits, type Edit } from './edit.ts';
import { parseSql, type Word } from './parse.ts';
import { writeValue } from './quote.ts';

// Matches nothing. As the first of two alternatives it changes no match and no group, and ClickHouse, which derives
// from a pattern what all of its alternatives need, derives nothing.
const NOTHING = String.raw`[^\s\S]|`;

/** Functions with a pattern, in lower case, and the place of their pattern. */
const CALLS: ReadonlyMap<string, number> = new Map([
  ...`match regexp_matches extract extractall countmatches countmatchescaseinsensitive replaceregexpall regexp_replace
    regexpextract regexp_extract regexp_substr regexpposition regexpinstr regexp_instr like notlike`
    .split(/\s+/)
    .map((name) => [name, 1] as const),
  ['splitbyregexp', 0],
]);
const OPERATORS = /^(?:REGEXP|RLIKE|LIKE)$/;
const LIKE = /^(?:not)?like$/i;

// These show a statement and search nothing; the sandbox checks their output.
const EXPLAINS_TEXT = /^EXPLAIN (?:AST|QUERY TREE) /;

/** The guards of a statement's patterns, and its texts and parameters in order: a pattern may be joined of several. */
interface Searches {
  readonly patterns: readonly Edit[];
  readonly likes: readonly Edit[];
  readonly parts: readonly ({ readonly text: string } | { readonly parameter: string })[];
}

const STATEMENTS_MAX = 500;
const searches = new LRUCache<string, Searches>({
  max: STATEMENTS_MAX,
  memoMethod: (sql) => findSearches(sql),
});

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
  const { patterns, likes, parts } = searches.memo(sql);
  if (patterns.length + likes.length === 0) return sql;
  const texts = parts.map((part) => ('text' in part ? part.text : getText(part.parameter)));
  const joined = texts.join('');
  return applyEdits(sql, [
    ...([...texts, joined].every(isPlainPattern) ? [] : patterns),
    ...(joined.includes('\\') ? likes : []),
  ]);
}

/** A pattern of `match` and the like, as a literal with its guard. */
export function guardPattern(pattern: string): string {
  return writeValue(isPlainPattern(pattern.toWellFormed()) ? pattern : NOTHING + pattern);
}

/** The same for LIKE: the result of `identity` is not a constant when data is skipped, and is one when rows are searched. */
export function guardLike(pattern: string): string {
  return pattern.includes('\\') ? `identity(${writeValue(pattern)})` : writeValue(pattern);
}

function findSearches(sql: string): Searches {
  const { words } = EXPLAINS_TEXT.test(sql) ? { words: [] } : parseSql(sql);
  const isLike = (i: number) => LIKE.test(nameOf(words[i]));
  const places = [...words.keys()];
  return {
    patterns: places.filter((i) => !isLike(i)).flatMap((i) => guardSearch(words, i, writeValue(NOTHING))),
    likes: places.filter(isLike).flatMap((i) => guardSearch(words, i, "identity('')")),
    parts: words
      .filter(isText)
      .map(({ kind, text }) => (kind === 'text' ? { text: readText(text) } : { parameter: text.slice(1) })),
  };
}

/** A literal's text, as far as it matters to a pattern. */
function readText(literal: string): string {
  return literal.slice(1, -1).replaceAll(/\\([\\'])|''/g, (_, sign = "'") => sign);
}

/** The edits that put a guard before the pattern of the search that a word begins; none if it begins none. */
function guardSearch(words: readonly Word[], i: number, guard: string): Edit[] {
  const name = nameOf(words[i]);
  const place = CALLS.get(name.toLowerCase());
  const argument = place === undefined ? undefined : findArgument(words, i + 1, place);
  if (argument !== undefined) {
    const { start, end } = argument;
    return [
      { start, end: start, text: `concat(${guard}, ` },
      { start: end, end, text: ')' },
    ];
  }
  const next = words[i + 1];
  // Columns may have these names, too.
  const isOperator =
    OPERATORS.test(name.toUpperCase()) &&
    next !== undefined &&
    (isText(next) || /^(?:\(|CONCAT)$/.test(next.key));
  return isOperator ? [{ start: next.start, end: next.start, text: `${guard} || ` }] : [];
}

function nameOf(word: Word | undefined): string {
  if (word?.kind === 'name') return word.text.slice(1, -1);
  return word?.kind === 'word' ? word.text : '';
}

const isText = ({ kind }: Word) => kind === 'text' || kind === 'parameter';

/** The range of an argument within the bracket at `open`; `undefined` if there is none. */
function findArgument(words: readonly Word[], open: number, place: number) {
  const close = words[open]?.key === '(' ? (words[open]?.pair ?? -1) : -1;
  const inside = Array.from({ length: Math.max(close - open, 0) }, (_, i) => open + i);
  const depth = (words[open]?.depth ?? 0) + 1;
  const commas = inside.filter((i) => words[i]?.key === ',' && words[i]?.depth === depth);
  const ends = [open, ...commas, close];
  const [first, last] = [words[(ends[place] ?? close) + 1], words[(ends[place + 1] ?? 0) - 1]];
  return first !== undefined && last !== undefined && first.start < last.end
    ? { start: first.start, end: last.end }
    : undefined;
}

/**
 * Parts of a pattern that ClickHouse reads as RE2 does. There is one way to cut a pattern into them: with two, the time
 * would double.
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

/**
 * Whether a pattern has only the common syntax of regular expressions, beyond which ClickHouse skips some texts that
 * match.
 */
export function isPlainPattern(pattern: string): boolean {
  return PLAIN.test(pattern);
}
