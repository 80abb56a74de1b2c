import { LRUCache } from 'lru-cache';
import { applyEdits, type Edit } from './edit.ts';
import { parseSql, type Word } from './parse.ts';
import { writeValue } from './quote.ts';

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

/** The guards of a statement's patterns, and its texts and parameters in order: a pattern may be joined of several. */
interface Searches {
  readonly patterns: readonly Edit[];
  readonly likes: readonly Edit[];
  /** Of patterns that the engine computes from more than texts and parameters. */
  readonly computed: readonly Edit[];
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
  const { patterns, likes, computed, parts } = searches.memo(sql);
  if (patterns.length + likes.length + computed.length === 0) return sql;
  const texts = parts.map((part) => ('text' in part ? part.text : getText(part.parameter)));
  const joined = texts.join('');
  return applyEdits(sql, [
    ...computed,
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
  const found = createGuards(words);
  return {
    ...found,
    parts: words
      .filter(isText)
      .map(({ kind, text }) => (kind === 'text' ? { text: readText(text) } : { parameter: text.slice(1) })),
  };
}

/** A literal's text, as far as it matters to a pattern. */
function readText(literal: string): string {
  return literal.slice(1, -1).replaceAll(/\\([\\'])|''/g, (_, sign = "'") => sign);
}

/** The edits that put a guard before each pattern. */
function createGuards(words: readonly Word[]): Omit<Searches, 'parts'> {
  const guards = { patterns: [] as Edit[], likes: [] as Edit[], computed: [] as Edit[] };
  const commas = findCommas(words);
  const others = countOthers(words);
  for (const [i, word] of words.entries()) {
    const name = nameOf(word);
    if (!SEARCH.test(name)) continue;
    const isLike = LIKE.test(name);
    const guard = isLike ? "identity('')" : NOTHING_TEXT;
    const ofKind = isLike ? guards.likes : guards.patterns;
    const argument = findArgument(words, commas, i);
    if (argument !== undefined) {
      const { first, last, start, end } = argument;
      const isComputed = others[last + 1] !== others[first];
      const list = isComputed ? guards.computed : ofKind;
      list.push({ start, end: start, text: `concat(${guard}, ` }, { start: end, end, text: ')' });
    } else if (isOperator(name, words[i + 1])) {
      const start = words[i + 1]?.start ?? word.end;
      ofKind.push({ start, end: start, text: `${guard} || ` });
    }
  }
  return guards;
}

/** Whether a word searches what follows it. Columns may have these names, too. */
function isOperator(name: string, next: Word | undefined): boolean {
  if (next === undefined || !OPERATORS.test(name.toUpperCase())) return false;
  return isText(next) || /^(?:\(|CONCAT)$/.test(next.key);
}

function nameOf(word: Word | undefined): string {
  if (word?.kind === 'name') return word.text.slice(1, -1);
  return word?.kind === 'word' ? word.text : '';
}

const isText = ({ kind }: Word) => kind === 'text' || kind === 'parameter';

/** The commas directly within each pair of brackets, by its first one. In one pass: calls are nested as deep as a text is long. */
function findCommas(words: readonly Word[]): ReadonlyMap<number, readonly number[]> {
  const commas = new Map<number, number[]>();
  const around: number[] = [];
  for (const [i, { key, pair }] of words.entries()) {
    if (pair > i) {
      around.push(i);
      commas.set(i, []);
    } else if (pair >= 0) around.pop();
    else if (key === ',') commas.get(around.at(-1) ?? -1)?.push(i);
  }
  return commas;
}

/** How many words before each place, and before the end, are more than texts, parameters and what joins them. */
function countOthers(words: readonly Word[]): readonly number[] {
  const counts = [0];
  for (const word of words)
    counts.push((counts.at(-1) ?? 0) + (isText(word) || JOINS.test(word.key) ? 0 : 1));
  return counts;
}

const JOINS = /^(?:CONCAT|[(),|]|\|\|)$/;

/** The first and last word of the pattern of the call at `i`, and its range; `undefined` if it is no call with a pattern. */
function findArgument(words: readonly Word[], commas: ReadonlyMap<number, readonly number[]>, i: number) {
  const place = CALLS.get(nameOf(words[i]).toLowerCase());
  const between = commas.get(i + 1);
  if (place === undefined || between === undefined) return undefined;
  const ends = [i + 1, ...between.slice(0, place + 1), words[i + 1]?.pair ?? -1];
  const [first, last] = [(ends[place] ?? -1) + 1, (ends[place + 1] ?? -1) - 1];
  const [from, to] = [words[first], words[last]];
  if (ends.length < place + 2 || from === undefined || to === undefined || last < first) return undefined;
  return { first, last, start: from.start, end: to.end };
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
