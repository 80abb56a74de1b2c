import { isPlainPattern } from './plain-pattern.ts';
import type { SearchKind, TextSearch } from './text-search.ts';

// Matches nothing. As the first of two alternatives it changes no match and no group, and ClickHouse, which derives from a
// pattern what all its alternatives need, derives nothing.
const NOTHING = String.raw`'[^\\s\\S]|'`;

/**
 * An argument written so that ClickHouse derives nothing from it: what goes before and after that of a call, and before that
 * of an operator, which binds less closely than `||`. What `identity` returns is no constant when data is skipped, and is one
 * when rows are searched. Other functions of patterns skip no data, and some take constants only.
 */
const GUARDS: Readonly<Record<SearchKind, { call: [string, string]; operator: string }>> = {
  match: { call: [`concat(identity(${NOTHING}), `, ')'], operator: `identity(${NOTHING}) || ` },
  pattern: { call: [`concat(${NOTHING}, `, ')'], operator: '' },
  like: { call: ['identity(', ')'], operator: "identity('') || " },
  text: { call: ['identity(', ')'], operator: '' },
};

/**
 * The SQL with a guard around each argument that ClickHouse may read wrongly, which leaves it nothing to read and means the same.
 *
 * Before it searches rows, ClickHouse derives from a pattern or a text which granules of the index and of the sorted table
 * cannot match, and from a pattern what every match contains. On 26.7.2 some of what it derives is wrong, and rows are lost:
 *
 * - `(?i)(A|B)` and other groups with flags are looked up case-sensitively in an index of substrings;
 * - `x(?i)*`, `x\Q\E*`, `[[]`, `[]a]` and `é?` are read in another way than RE2 reads them;
 * - of a LIKE pattern, backslashes are left out of what is looked up; of a text, bytes that do not begin a letter.
 *
 * An argument of common syntax keeps the index. Guards stand in the text of every statement, so that whoever writes a query
 * cannot forget them, and every engine has them.
 *
 * @param getValue the value of a parameter of the SQL
 */
export function guardSearches(
  sql: string,
  searches: readonly TextSearch[],
  getValue: (parameter: string) => string,
): string {
  let guarded = '';
  let at = 0;
  const insertions = searches
    .filter((search) => !isPlain(search, getValue))
    .flatMap(({ kind, start, end }) => {
      if (start === end) return [{ offset: start, text: GUARDS[kind].operator }];
      const [before, after] = GUARDS[kind].call;
      return [
        { offset: start, text: before },
        { offset: end, text: after },
      ];
    })
    .sort((a, b) => a.offset - b.offset);
  for (const { offset, text } of insertions) {
    guarded += sql.slice(at, offset) + text;
    at = offset;
  }
  return guarded + sql.slice(at);
}

function isPlain({ kind, parts }: TextSearch, getValue: (parameter: string) => string): boolean {
  if (parts === undefined) return false;
  const text = parts.map((part) => ('text' in part ? part.text : getValue(part.parameter))).join('');
  if (kind === 'match' || kind === 'pattern') return isPlainPattern(text);
  return kind === 'text' || !text.includes('\\');
}
