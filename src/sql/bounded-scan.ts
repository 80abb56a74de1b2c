import { isClosing, isOpening, parseSql, type Word } from './parse.ts';

/** A table, its column, and the parameter that is the column's least value: `FROM table WHERE … AND column >= @parameter`. */
export interface Scan {
  readonly table: string;
  readonly column: string;
  readonly parameter: string;
}

// With an operator that binds less closely than AND, or has its own, a condition may be less than it seems.
const UNFIT: ReadonlySet<string> = new Set(['OR', 'BETWEEN', '?', ':', 'CASE', '-']);
const BEFORE_CONDITION: ReadonlySet<string> = new Set(['WHERE', 'AND']);
const AFTER_CONDITION: ReadonlySet<string> = new Set('AND GROUP ORDER LIMIT HAVING'.split(' '));
// After anything else, the name could be an alias of another value, by which the engine would read the condition.
const BEFORE_COLUMN: ReadonlySet<string> = new Set(', ( AND OR WHERE BY SELECT'.split(' '));

/**
 * Whether a query plainly reads a table once, and of it only rows with at least the parameter's value in the column. In doubt it does not:
 * with quoted names, aliases of the table or the column, or another operator than AND among the conditions.
 */
export function isBoundedScan(sql: string, { table, column, parameter }: Scan): boolean {
  const { words } = parseSql(sql);
  if (words.some(({ kind }) => kind === 'name')) return false;
  const found = [...words.keys()].filter((i) => words[i]?.text === table);
  const [named = 0] = found;
  const where = words[named + 1];
  if (found.length !== 1 || words[named - 1]?.key !== 'FROM' || where?.key !== 'WHERE') return false;
  const select = words.findLastIndex((word, i) => i < named && isOpening(word) && word.pair > named);
  const end = words[select]?.pair ?? words.length;
  if (words.some(({ text }, i) => text === column && mayHide(words, i, i > select && i < end))) return false;
  const own = [...words.keys()].filter(
    (i) => words[i]?.clause === named + 1 && words[i]?.depth === where.depth,
  );
  if (own.some((i) => UNFIT.has(words[i]?.key ?? ''))) return false;
  return own.some((i) => isBound(words, i, { column, parameter }));
}

/**
 * Whether the name of the column may be given to another value, which the SELECT of the table would see: names of results are not seen in the
 * brackets of another SELECT, but those of a WITH are.
 *
 * @param i of the name
 * @param isInside whether it is in the brackets of the SELECT of the table
 */
function mayHide(words: readonly Word[], i: number, isInside: boolean): boolean {
  if (BEFORE_COLUMN.has(words[i - 1]?.key ?? '')) return false;
  return isInside || words[words[i]?.clause ?? -1]?.key !== 'SELECT';
}

/** @param i of the column */
function isBound(words: readonly Word[], i: number, { column, parameter }: Omit<Scan, 'table'>): boolean {
  const [before, name, greater, equal, value, after] = words.slice(i - 1, i + 5);
  if (name?.text !== column || greater?.key !== '>' || equal?.key !== '=') return false;
  if (value?.kind !== 'parameter' || value.text !== `@${parameter}`) return false;
  const isWhole = after === undefined || isClosing(after) || AFTER_CONDITION.has(after.key);
  return isWhole && BEFORE_CONDITION.has(before?.key ?? '');
}
