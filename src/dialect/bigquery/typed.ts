import type { Expression, QueryTree, SelectTree, Tail } from './parse/tree.ts';
import {
  type DialectColumn,
  extend,
  findTyped,
  isTypedAt,
  type Origin,
  type Relation,
  type Source,
  type Step,
  typedSql,
} from './relation.ts';
import { AGGREGATES } from './signature.ts';
import { typedValue } from './value.ts';

/**
 * A SELECT of one table whose answer is that of `root` if its last column, `label`, is false or 0 in all of its rows.
 * Rows that may have a value beside their typed columns pass every condition. They are in the answer, if there are
 * some, since either they come first, or they are ordered by what is known of them; and if the answer has none, no row
 * was left out for one.
 *
 * @param label a name that no other column has
 * @returns `undefined` for SELECTs of other forms
 */
export function flagUntyped(root: QueryTree, label: string): QueryTree | undefined {
  const { withs, arms, tail } = root;
  const [select, ...others] = arms;
  if (select?.kind !== 'select' || others.length > 0 || withs.length > 0) return undefined;
  if (tail.limit?.offset !== undefined || !isPlain(select)) return undefined;
  const { start } = select;
  const flag: Expression = { start, kind: 'name', names: [FLAG_LABEL] };
  const isGrouped = select.groupBy.length > 0 || hasNode(select.items, isAggregate);
  const last: Expression = isGrouped ? { start, ...COUNT_IF, args: [flag] } : flag;
  const isFirst = isGrouped || !isOrderedByStored(select, tail);
  const first = isFirst ? [{ expression: last, isDescending: true, nulls: undefined }] : [];
  const { where } = select;
  return {
    ...root,
    arms: [
      {
        ...select,
        items: [...select.items, { start, kind: 'item', expression: last, alias: label }],
        where: where && { start, kind: 'chain', operator: 'OR', operands: [where, flag] },
      },
    ],
    tail: { ...tail, orderBy: [...first, ...tail.orderBy] },
  };
}

const COUNT_IF = {
  kind: 'call',
  name: 'countif',
  isOfRows: false,
  isDistinct: false,
  isOver: false,
} as const;

/** HAVING, DISTINCT and window functions see other rows than those of the answer. */
function isPlain({ isDistinct, having, items, from, where, groupBy }: SelectTree): boolean {
  if (isDistinct || having !== undefined || items.some(({ kind }) => kind === 'star')) return false;
  return !hasNode(
    [items, from, where, groupBy],
    (node) => node['kind'] === 'query' || node['isOver'] === true,
  );
}

/** Whether rows are ordered by columns that every event has, so that a row's place is known whatever else it has. */
function isOrderedByStored({ items, from }: SelectTree, { orderBy }: Tail): boolean {
  const [table] = from;
  const name = table?.alias ?? (table?.read.kind === 'path' ? table.read.names.join('.') : '');
  const isStored = (expression: Expression) => {
    if (expression.kind !== 'name') return false;
    const [relation, column] = expression.names.length === 1 ? [name, ...expression.names] : expression.names;
    return relation?.toLowerCase() === name.toLowerCase() && STORED.has(column?.toLowerCase() ?? '');
  };
  // In ORDER BY the name of a column of the list is that column.
  const others = items.filter((item) => item.kind === 'item' && !isStored(item.expression));
  const hidden = new Set(others.flatMap((item) => findLabel(item)));
  return orderBy.every(({ expression }) => isStored(expression) && !hidden.has(lastName(expression)));
}

const STORED: ReadonlySet<string> = new Set(['id', 'timestamp', 'event_message']);

function findLabel(item: SelectTree['items'][number]): string | [] {
  return item.kind === 'star' ? [] : (item.alias?.toLowerCase() ?? lastName(item.expression));
}

function lastName(expression: Expression): string {
  return expression.kind === 'name' ? (expression.names.at(-1)?.toLowerCase() ?? '') : '';
}

const isAggregate = (node: Readonly<Record<string, unknown>>) =>
  node['kind'] === 'call' && (node['name'] === 'count' || Object.hasOwn(AGGREGATES, String(node['name'])));

/** Whether a tree has such a node. */
function hasNode(tree: unknown, is: (node: Readonly<Record<string, unknown>>) => boolean): boolean {
  if (Array.isArray(tree)) return tree.some((part) => hasNode(part, is));
  if (typeof tree !== 'object' || tree === null) return false;
  const node = { ...tree };
  return is(node) || Object.values(node).some((part) => hasNode(part, is));
}

/** Reports that a SELECT reads more than typed columns. */
export class NotTyped extends Error {
  override readonly name = 'NotTyped';
}

/**
 * The column that says whether a row may have a value beside its typed columns, in a caller's tree: no caller can write
 * it.
 */
const FLAG_LABEL = '\0untyped';
// The same in the engine's SQL.
const FLAG = 'p_untyped';

/**
 * A relation of which only typed columns and those of every event are read, from a view that has them in one SELECT.
 * Its flag is set for an event that lacks one of these: what the event has there, and whether it is a list, is in its
 * metadata.
 *
 * @throws NotTyped if the source has no such view
 */
export function createTypedRelation(name: string, alias: string, source: Source): Relation {
  const { view } = source;
  if (view === undefined || (view.untyped !== undefined && view.hasPlain !== true)) throw new NotTyped();
  const inner = `${alias}s`;
  const read = new Set<string>();
  const typed = new Set<DialectColumn>();
  const records: (readonly string[])[] = [];
  const findAt = ({ path }: Origin, steps: readonly Step[]) => findTyped(view, extend(path, steps));
  const columns = new Map(source.columns).set(FLAG_LABEL, { name: FLAG, label: FLAG_LABEL, type: 'bool' });
  const relation: Relation = {
    name,
    source: { ...source, columns },
    column({ name: column, type, members }) {
      if (column !== FLAG) read.add(column);
      return { type, sql: `${alias}.${column}`, members, column: { table: relation, name: column } };
    },
    origin: (column) => ({ relation, sql: column.name, path: [column.name] }),
    unnest(origin, steps, others = []) {
      const path = others.length > 0 ? undefined : extend(origin.path, steps);
      if (path === undefined) throw new NotTyped();
      records.push(path);
      return { relation, sql: path.join('\0'), path };
    },
    isTyped: ({ path }, steps) => isTypedAt(view, extend(path, steps)),
    value(origin, steps, others = []) {
      const column = others.length > 0 ? undefined : findAt(origin, steps);
      if (column === undefined) throw new NotTyped();
      typed.add(column);
      return typedValue(typedSql(`${alias}.${column.name}`, column));
    },
    setOptional() {
      throw new NotTyped();
    },
    write() {
      for (const record of records) if (!hasBelow(typed, record)) typed.add(getBelow(view.columns, record));
      const names = [...typed].map((column) => column.name);
      const flag = names.map((column) => `isNull(${inner}.${column})`).join(' OR ') || 'false';
      const list = [...new Set([...read, ...names])].map((column) => `${inner}.${column} AS ${column}`);
      return `(SELECT ${[...list, `(${flag}) AS ${FLAG}`].join(', ')} FROM ${source.sql} AS ${inner}) AS ${alias}`;
    },
  };
  return relation;
}

// A typed column that has a value says that no list is on its path, so each record on it is one.
const isBelow = (record: readonly string[]) => (column: DialectColumn) =>
  record.length < column.path.length && record.every((step, i) => column.path[i] === step);

function hasBelow(columns: Iterable<DialectColumn>, record: readonly string[]): boolean {
  return [...columns].some(isBelow(record));
}

function getBelow(columns: readonly DialectColumn[], record: readonly string[]): DialectColumn {
  const column = columns.find(isBelow(record));
  if (column === undefined) throw new NotTyped();
  return column;
}
