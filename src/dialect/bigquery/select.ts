import { findBounds, type TableBounds } from './bounds.ts';
import type { Context } from './context.ts';
import { as, isJson } from './convert.ts';
import { type FromContext, translateFrom } from './from.ts';
import { notPlace, readPlaced, writeTail } from './order.ts';
import { readAlias, readName } from './parse/name.ts';
import type { Node } from './parse/tree.ts';
import { createRelation, type Source } from './relation.ts';
import { readColumn, type Scope } from './scope.ts';
import { groupedValue, type Type, type Value } from './value.ts';

/** A column of a SELECT: in its SQL it is `c0`, `c1` and so on. */
export interface OutputColumn {
  /** As the caller names it. */
  readonly label: string;
  readonly type: Type;
}

export interface Select {
  readonly sql: string;
  readonly columns: readonly OutputColumn[];
}

export interface SelectContext extends FromContext {
  /** Takes the bounds of each table that is read. */
  readonly addRead: (bounds: TableBounds) => void;
}

interface Item {
  readonly label: string;
  readonly value: Value;
}

/** Translates one SELECT, without its WITH. @param hasTail whether ORDER BY and LIMIT are its own, not of a UNION */
export function translateSelect(node: Node, context: SelectContext, hasTail: boolean): Select {
  const { reader, contextOf } = context;
  if (reader.word(node, 'type') !== 'select') throw reader.refuse('must be one SELECT', node);
  const distinct = reader.word(node, 'distinct') ?? 'ALL';
  const from = translateFrom(reader.nodes(node, 'from'), context);
  const inner = contextOf(from.scope);
  const whereNode = reader.node(node, 'where');
  const where = whereNode === undefined ? '' : ` WHERE ${as(inner.translate(whereNode), 'bool')}`;
  for (const bounds of findBounds(whereNode, from.scope.relations, inner)) context.addRead(bounds);
  const rows = readItems(node, from.scope, inner);
  const keys = readKeys(node, rows, { named: contextOf(withAliases(from.scope, rows)), inner });
  const grouped = new Map(keys.filter(isJson).map((key) => [key.sql, groupedValue(key)]));
  const groups: Scope = { ...from.scope, grouped };
  const items = grouped.size === 0 ? rows : readItems(node, groups, contextOf(groups));
  const named = contextOf(withAliases(groups, items));
  const values = items.map(({ value }) => value);
  const group =
    keys.length === 0
      ? ''
      : ` GROUP BY ${[...new Set(keys.map(({ sql, json }) => json?.text ?? notPlace(sql)))].join(', ')}`;
  const havingNode = reader.node(node, 'having');
  const having = havingNode === undefined ? '' : ` HAVING ${as(named.translate(havingNode), 'bool')}`;
  const isDistinct = distinct === 'DISTINCT';
  const tail = hasTail && !isDistinct ? writeTail(node, values, named) : '';
  const list = values.map(({ sql }, i) => `${sql} AS c${i}`).join(', ');
  const columns = items.map(({ label, value }) => ({ label, type: value.type }));
  const source = from.write();
  const sql = `SELECT ${isDistinct ? 'DISTINCT ' : ''}${list}${source && ` FROM ${source}`}${where}${group}${having}${tail}`;
  return hasTail && isDistinct ? withTail({ sql, columns }, node, context) : { sql, columns };
}

/** A SELECT with an ORDER BY and a LIMIT around it, which name its columns only. */
export function withTail(select: Select, node: Node, { contextOf, nextAlias }: SelectContext): Select {
  const { sql, columns } = select;
  const relation = createRelation('', nextAlias(), toSource({ sql: `(${sql})`, columns }));
  const values = [...relation.source.columns.values()].map((column) => readColumn(relation, column));
  const items = columns.map(
    ({ label }, i) => ({ label, value: values[i] ?? { type: 'null', sql: 'NULL' } }) as const,
  );
  const scope: Scope = {
    relations: [],
    records: [],
    shared: new Set(),
    aliases: new Map(),
    grouped: new Map(),
  };
  const tail = writeTail(node, values, contextOf(withAliases(scope, items)));
  if (tail === '') return select;
  const list = values.map((value, i) => `${value.sql} AS c${i}`);
  return { sql: `SELECT ${list.join(', ')} FROM ${relation.write()}${tail}`, columns };
}

/** What FROM can read of a SELECT. */
export function toSource({ sql, columns }: Select): Source {
  const named = columns.map(
    ({ label, type }, i) => [label.toLowerCase(), { name: `c${i}`, label, type }] as const,
  );
  return { sql, columns: new Map(named) };
}

/** The first of several columns of one name counts. */
function withAliases(scope: Scope, items: readonly Item[]): Scope {
  return {
    ...scope,
    aliases: new Map(items.toReversed().map(({ label, value }) => [label.toLowerCase(), value])),
  };
}

/** The values of GROUP BY. */
function readKeys(
  node: Node,
  items: readonly Item[],
  { named, inner }: { readonly named: Context; readonly inner: Context },
): readonly Value[] {
  const { reader } = inner;
  const group = reader.node(node, 'groupby');
  if (group === undefined) return [];
  const values = items.map(({ value }) => value);
  return reader.nodes(group, 'columns').map((key) => {
    // A name by itself is that of a column of the list first, as in `timestamp_trunc(timestamp, hour) AS timestamp`.
    const isName = reader.word(key, 'type') === 'column_ref';
    return readPlaced(key, values, inner) ?? (isName ? named : inner).translate(key);
  });
}

function readItems(node: Node, scope: Scope, context: Context): readonly Item[] {
  const { reader } = context;
  let nameless = 0;
  const items = reader.nodes(node, 'columns').flatMap((item) => {
    const stars = readStar(item, scope, context);
    if (stars !== undefined) return stars;
    const expression = reader.must(item, 'expr');
    const own = context.translate(expression);
    const value = scope.grouped.get(own.sql) ?? own;
    const label = readAlias(reader, item) ?? findLabel(expression, context) ?? `f${nameless++}_`;
    return [{ label, value }];
  });
  if (items.length > COLUMNS_MAX) throw reader.refuse(`has more than ${COLUMNS_MAX} columns`, node);
  return items;
}

const COLUMNS_MAX = 200;

/** The last part of a name. */
function findLabel(node: Node, { reader }: Context): string | undefined {
  if (reader.word(node, 'type') !== 'column_ref') return undefined;
  const name = readName(reader, node);
  const label = name.kind === 'name' ? name.names.at(-1) : undefined;
  if (label === undefined || /^[A-Za-z_]\w{0,127}$/.test(label)) return label;
  throw reader.refuse(`has the column ${JSON.stringify(label)}; give it a plain name with AS`, node);
}

/** The columns of `*`, with or without a relation before it and EXCEPT after it; `undefined` for other expressions. */
function readStar(item: Node, scope: Scope, { reader }: Context): readonly Item[] | undefined {
  const expression = reader.must(item, 'expr');
  if (reader.word(expression, 'type') !== 'column_ref') return undefined;
  const name = readName(reader, expression);
  if (name.kind !== 'star') return undefined;
  const wanted = name.relation?.toLowerCase();
  const relations = scope.relations.filter(
    (one) => wanted === undefined || one.name.toLowerCase() === wanted,
  );
  const isOfRecord = scope.records.some((one) => wanted === undefined || one.name.toLowerCase() === wanted);
  if (isOfRecord) throw reader.refuse('has * of an unnested record; name its fields', item);
  if (relations.length === 0) throw reader.refuse(`has ${name.relation ?? ''}* without a table`, item);
  reader.word(item, 'type');
  const left = new Set(
    reader.nodes(item, 'expr_list').map((one) => {
      const excepted = readName(reader, reader.must(one, 'expr'));
      return excepted.kind === 'name' ? excepted.names.join('.').toLowerCase() : '*';
    }),
  );
  const found = relations.flatMap((relation) =>
    [...relation.source.columns].map(([key, column]) => ({ key, relation, column })),
  );
  const kept = found.filter(({ key }) => !left.has(key));
  if (kept.length !== found.length - left.size)
    throw reader.refuse('has EXCEPT of what is no column there', item);
  return kept.map(({ relation, column }) => ({ label: column.label, value: readColumn(relation, column) }));
}
