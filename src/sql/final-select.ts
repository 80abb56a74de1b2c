import { readWords, type SqlToken, type Word } from './token.ts';
import { PLAIN_NAME } from './with-list.ts';

/** A column of a SELECT, as it is written: `expression AS name`, or the name of a column. */
export interface SelectItem {
  readonly name: string;
  readonly sql: string;
}

/** A query cut at the list of its final SELECT. */
export interface FinalSelect {
  /** Up to the list. */
  readonly before: string;
  readonly items: readonly SelectItem[];
  /** From the list to the end, without comments and `LIMIT`. */
  readonly after: string;
  /** The number of `LIMIT n`, if the query ends with it. */
  readonly limit: number | undefined;
  /** Whether the order or the groups of rows may depend on places in the list, as in `ORDER BY 1`. */
  readonly countsItems: boolean;
}

/** A query that the service writes itself, cut in the same way. */
export type WrittenSelect = Pick<FinalSelect, 'items' | 'after' | 'limit'>;

/** Words of the final SELECT that change what its list or a LIMIT after it means. Such a query is left as it is. */
const CHANGES = new Set(
  `SELECT DISTINCT TOP UNION INTERSECT EXCEPT WITH LIMIT OFFSET FETCH SETTINGS FORMAT INTO APPLY REPLACE WINDOW QUALIFY`.split(
    ' ',
  ),
);
const CLAUSES = new Set('FROM PREWHERE WHERE GROUP HAVING ORDER ARRAY JOIN'.split(' '));

/**
 * Cuts a query at its final SELECT, so that its list can be replaced and its rows be limited without another SELECT around it: the
 * engine takes half a millisecond to analyse one.
 *
 * @returns `undefined` for any query that is not plainly `[WITH …] SELECT item, … FROM … [LIMIT n]`: in doubt it is not cut
 */
export function findFinalSelect(sql: string): FinalSelect | undefined {
  const tokens = readWords(sql);
  const texts = tokens.map(({ text }) => text);
  const outer = findOuter(tokens);
  const words = outer.map((i) => (tokens[i]?.kind === 'word' ? (texts[i] ?? '').toUpperCase() : ''));
  const limit = readLimit(words);
  const end = words.length - (limit === undefined ? 0 : 2);
  const select = words.indexOf('SELECT');
  const clause = words.findIndex((word, i) => i > select && CLAUSES.has(word));
  const listEnd = clause === -1 ? end : clause;
  if (select === -1 || (select > 0 && words[0] !== 'WITH') || (clause !== -1 && words[clause] !== 'FROM'))
    return undefined;
  if (words.slice(select + 1, end).some((word) => CHANGES.has(word))) return undefined;
  const at = (i: number) => outer[i] ?? tokens.length;
  const commas = outer.filter((i) => i > at(select) && i < at(listEnd) && texts[i] === ',');
  const edges = [at(select), ...commas, at(listEnd)];
  const items = edges.slice(1).map((to, i) => readItem(sql, tokens.slice((edges[i] ?? 0) + 1, to)));
  const known = items.filter((item) => item !== undefined);
  if (known.length !== items.length) return undefined;
  return {
    before: sql.slice(0, tokens[at(select)]?.end),
    items: known,
    after: sql.slice(tokens[at(listEnd)]?.start ?? sql.length, tokens[at(end) - 1]?.end),
    limit,
    countsItems: countsItems(texts.slice(at(listEnd), at(end))),
  };
}

/** `n` of a query that ends with `LIMIT n`, whatever it is otherwise. */
export function findLimit(sql: string): number | undefined {
  return readLimit(
    readWords(sql)
      .slice(-2)
      .map(({ text }) => text.toUpperCase()),
  );
}

/** @param words in capital letters */
function readLimit(words: readonly string[]): number | undefined {
  const rows = words.at(-1) ?? '';
  return words.at(-2) === 'LIMIT' && /^\d{1,9}$/.test(rows) ? Number(rows) : undefined;
}

/** Whether a clause may have ALL, or a number, instead of an expression; brackets around one change nothing. */
function countsItems(texts: readonly string[]): boolean {
  let depth = 0;
  return texts.some((text, i) => {
    if (text === '(') depth++;
    if (text === ')') depth--;
    if (!/^(?:\d\w*|ALL)$/i.test(text)) return false;
    return depth === 0 || (texts[i - 1] === '(' && /^(?:BY|[,(])$/i.test(texts[i - 2] ?? ''));
  });
}

const OPENING: ReadonlySet<string> = new Set('([{');
const CLOSING: ReadonlySet<string> = new Set(')]}');

/** Indexes of the tokens outside of all brackets; none if brackets do not match. */
function findOuter(tokens: readonly Word[]): number[] {
  let depth = 0;
  const outer: number[] = [];
  for (const [i, { kind, text }] of tokens.entries()) {
    if (kind !== 'sign') {
      if (depth === 0) outer.push(i);
      continue;
    }
    if (CLOSING.has(text)) depth--;
    if (depth < 0) return [];
    if (depth === 0) outer.push(i);
    if (OPENING.has(text)) depth++;
  }
  return depth === 0 ? outer : [];
}

/** `name`, or `… AS name`; `undefined` for anything else, such as `*`, `table.name` and a name in quotes. */
function readItem(sql: string, tokens: readonly SqlToken[]): SelectItem | undefined {
  const [first, last] = [tokens[0], tokens.at(-1)];
  if (first === undefined || last?.kind !== 'word') return undefined;
  const name = sql.slice(last.start, last.end);
  const before = tokens.at(-2);
  const isNamed = before?.kind === 'word' && sql.slice(before.start, before.end).toUpperCase() === 'AS';
  if (!PLAIN_NAME.test(name) || (tokens.length > 1 && !isNamed)) return undefined;
  return { name, sql: sql.slice(first.start, last.end) };
}
