import { applyEdits, type Edit } from './edit.ts';
import { writeValue } from './quote.ts';
import type { SearchKind, TextSearch } from './text-search.ts';

// Matches nothing. As the first of two alternatives it changes no match and no group, and ClickHouse, which derives from a pattern
// what all of its alternatives need, derives nothing.
const NOTHING = String.raw`'[^\\s\\S]|'`;

/**
 * Texts around an argument that keep ClickHouse from deriving anything from it: before and after that of a call, and before that of an
 * operator, which binds less closely than `||`. The result of `identity` is not a constant when data is skipped, and is one when rows are
 * searched. Other functions of patterns skip no data, and some accept constants only.
 */
const GUARDS: Readonly<Record<SearchKind, { call: [string, string]; operator: string }>> = {
  match: { call: [`concat(identity(${NOTHING}), `, ')'], operator: `identity(${NOTHING}) || ` },
  pattern: { call: [`concat(${NOTHING}, `, ')'], operator: '' },
  like: { call: ['identity(', ')'], operator: "identity('') || " },
  text: { call: ['identity(', ')'], operator: '' },
};

/**
 * The SQL with a guard around each argument that ClickHouse may read wrongly; its meaning is the same.
 *
 * Before it searches rows, ClickHouse derives from a pattern or a text which granules of the index and of the sorted table cannot
 * match, and from a pattern which text every match contains. On 26.7.2 some of this is wrong, and rows are lost:
 *
 * - `(?i)(A|B)` and other groups with flags are looked up case-sensitively in an index of substrings;
 * - `x(?i)*`, `x\Q\E*`, `[[]`, `[]a]` and `é?` are read in another way than RE2 reads them;
 * - the lookup omits backslashes of a LIKE pattern, and bytes of a text that do not begin a letter.
 *
 * Arguments of common syntax keep the index. Every statement gets its guards here, on every engine: no author can forget them.
 *
 * @param getValue the text of a parameter of the SQL
 */
export function guardSearches(
  sql: string,
  searches: readonly TextSearch[],
  getValue: (parameter: string) => string,
): string {
  const guards = searches
    .filter((search) => !isPlain(search, getValue))
    .flatMap(({ kind, start, end }): Edit[] => {
      const [before, after] = start === end ? [GUARDS[kind].operator, ''] : GUARDS[kind].call;
      return [
        { start, end: start, text: before },
        { start: end, end, text: after },
      ];
    });
  return applyEdits(sql, guards);
}

/** A text as the argument of a search in SQL that the service writes itself, with its guard. */
export function guardText(kind: SearchKind, text: string): string {
  const literal = writeValue(text);
  if (isPlainText(kind, text.toWellFormed())) return literal;
  const [before, after] = GUARDS[kind].call;
  return `${before}${literal}${after}`;
}

function isPlain({ kind, parts }: TextSearch, getValue: (parameter: string) => string): boolean {
  if (parts === undefined) return false;
  const text = parts.map((part) => ('text' in part ? part.text : getValue(part.parameter))).join('');
  return isPlainText(kind, text);
}

function isPlainText(kind: SearchKind, text: string): boolean {
  if (kind === 'match' || kind === 'pattern') return isPlainPattern(text);
  return kind === 'text' || !text.includes('\\');
}

/** Parts of a pattern that ClickHouse reads as RE2 does. There is one way to cut a pattern into them: with two, the time would double. */
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

/** Whether a pattern has only the common syntax of regular expressions, beyond which ClickHouse skips some texts that match. */
export function isPlainPattern(pattern: string): boolean {
  return PLAIN.test(pattern);
}
