import { applyEditsIn, type Edit } from './edit.ts';
import { isClosing, isOpening, parseSql, type Word } from './parse.ts';
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
  /** From the list to the end, without `LIMIT`. */
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

/**
 * Cuts a query at its final SELECT, so that its list can be replaced and its rows be limited without another SELECT around it: the
 * engine takes half a millisecond to analyse one.
 *
 * @param edits of the query, which its parts have
 * @returns `undefined` for any query that is not plainly `[WITH …] SELECT item, … FROM … [LIMIT n]`: in doubt it is not cut
 */
export function findFinalSelect(sql: string, edits: readonly Edit[] = []): FinalSelect | undefined {
  const { words } = parseSql(sql);
  if (words.some((word) => word.pair === -1 && (isOpening(word) || isClosing(word)))) return undefined;
  const select = words.findIndex(({ key, depth }) => key === 'SELECT' && depth === 0);
  if (select === -1 || (select > 0 && words[0]?.key !== 'WITH')) return undefined;
  const limit = readLimit(words);
  const rest = words.slice(select + 1, limit === undefined ? words.length : -2);
  const outer = rest.filter(({ depth }) => depth === 0);
  const second = outer.find(({ clause }) => clause > select)?.clause;
  const listEnd = second === undefined ? rest.length : second - select - 1;
  if (outer.some(({ key }) => CHANGES.has(key)) || (rest[listEnd]?.key ?? 'FROM') !== 'FROM')
    return undefined;
  const items = readItems(rest.slice(0, listEnd));
  if (items === undefined) return undefined;
  const end = rest.at(-1)?.end ?? sql.length;
  const ranges = [
    { start: 0, end: words[select]?.end ?? 0 },
    ...items,
    { start: rest[listEnd]?.start ?? end, end },
  ];
  const [before = '', ...parts] = applyEditsIn(sql, edits, ranges);
  return {
    before,
    items: items.map(({ name }, i) => ({ name, sql: parts[i] ?? '' })),
    after: parts.at(-1) ?? '',
    limit,
    countsItems: countsItems(rest.slice(listEnd)),
  };
}

/** `n` of a query that ends with `LIMIT n`, whatever it is otherwise. */
export function findLimit(sql: string): number | undefined {
  return readLimit(parseSql(sql).words);
}

function readLimit(words: readonly Word[]): number | undefined {
  const rows = words.at(-1)?.text ?? '';
  return words.at(-2)?.key === 'LIMIT' && /^\d{1,9}$/.test(rows) ? Number(rows) : undefined;
}

/** Whether a clause may have ALL, or a number, instead of an expression; brackets around one change nothing. */
function countsItems(words: readonly Word[]): boolean {
  return words.some(({ key, depth }, i) => {
    if (!/^(?:\d\w*|ALL)$/.test(key)) return false;
    return depth === 0 || (words[i - 1]?.key === '(' && /^(?:BY|[,(])$/.test(words[i - 2]?.key ?? ''));
  });
}

/** The items of a list; `undefined` if one is neither `name` nor `… AS name`, such as `*`, `table.name` and a name in quotes. */
function readItems(list: readonly Word[]) {
  const commas = [...list.keys()].filter((i) => list[i]?.key === ',' && list[i]?.depth === 0);
  const ends = [...commas, list.length];
  const items = ends.flatMap((end, i) => readItem(list.slice((ends[i - 1] ?? -1) + 1, end)) ?? []);
  return items.length === ends.length ? items : undefined;
}

function readItem(words: readonly Word[]) {
  const [first, last] = [words[0], words.at(-1)];
  const isNamed = words.length === 1 || words.at(-2)?.key === 'AS';
  if (first === undefined || last?.kind !== 'word' || !PLAIN_NAME.test(last.text) || !isNamed)
    return undefined;
  return { name: last.text, start: first.start, end: last.end };
}
