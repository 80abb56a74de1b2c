import {
  type Expression,
  type FromItem,
  type ItemTree,
  type OrderTerm,
  type Placed,
  placed,
  type QueryTree,
  reject,
  type SelectTree,
  type StarTree,
  shorten,
  type Tail,
} from './parse/tree.ts';
import type { Origin, Relation, Select, Source } from './relation.ts';
import {
  type Bounds,
  type ColumnScope,
  type Context,
  createScope,
  findBounds,
  findName,
  getColumn,
  type Item,
  isSame,
} from './scope.ts';
import { as, compare, groupedValue, isJson, type Value } from './value.ts';

/** What the translation of a SELECT needs of the query around it. */
export interface SelectContext {
  /** The views and WITH members that FROM can name, in lower case. */
  readonly visible: ReadonlyMap<string, Source>;
  /** A relation that no other SELECT has. @param isOptional for the right side of a LEFT JOIN */
  readonly relate: (name: string, source: Source, isOptional: boolean) => Relation;
  /** A SELECT in brackets. */
  readonly subquery: (query: QueryTree) => Select;
  readonly contextOf: (scope: ColumnScope) => Context;
  /** Takes the bounds of each table that is read. */
  readonly reads: Bounds[];
}

/** Translates one SELECT, without its WITH. @param tail its own ORDER BY and LIMIT */
export function translateSelect(tree: SelectTree, context: SelectContext, tail: Tail): Select {
  const { contextOf } = context;
  const { isDistinct, where, having } = tree;
  const from = translateFrom(tree.from, context);
  const inner = contextOf(from.scope);
  const condition = writeCondition('WHERE', where, inner);
  context.reads.push(...findBounds(where, from.scope.relations, inner));
  const rows = readItems(tree, from.scope, inner);
  const ofRows = contextOf({ ...from.scope, aliases: rows });
  // A name by itself is that of a column of the list first, as in `timestamp_trunc(timestamp, hour) AS timestamp`.
  const keys = tree.groupBy.map(
    (key) => readPlaced(key, rows) ?? (key.kind === 'name' ? ofRows : inner).translate(key),
  );
  const grouped = new Map(keys.filter(isJson).map((key) => [key.sql, groupedValue(key)]));
  const groups: ColumnScope = { ...from.scope, grouped };
  const items = grouped.size === 0 ? rows : readItems(tree, groups, contextOf(groups));
  const named = contextOf({ ...groups, aliases: items });
  const groupedBy = new Set(keys.map(({ sql, json }) => json?.('string') ?? notPlace(sql)));
  const group = keys.length === 0 ? '' : ` GROUP BY ${[...groupedBy].join(', ')}`;
  const groupCondition = writeCondition('HAVING', having, named);
  const ownTail = isDistinct ? '' : writeTail(tail, named);
  const list = items.map(({ value }, i) => `${value.sql} AS c${i}`).join(', ');
  const columns = items.map(({ label, value: { type, members } }, i) => {
    return { name: `c${i}`, label, type, members };
  });
  const array = isDistinct ? columns.find(({ type }) => type === 'array') : undefined;
  if (array !== undefined) throw reject(`has DISTINCT with the array ${array.label}`, tree);
  const read = tree.from.length === 0 ? '' : ` FROM ${from.write()}`;
  const written = `${list}${read}${condition}${group}${groupCondition}${ownTail}`;
  const select = isDistinct
    ? withTail({ sql: `SELECT DISTINCT ${written}`, columns }, tail, context)
    : { sql: `SELECT ${written}`, columns };
  for (const [i, { label }] of columns.entries())
    if (columns.findIndex((other) => isSame(other.label, label)) < i)
      throw reject(`has two columns ${label}; give each its own name`, tree);
  return select;
}

function writeCondition(clause: string, condition: Expression | undefined, context: Context): string {
  if (condition === undefined) return '';
  return placed(condition, () => ` ${clause} ${as(context.translate(condition), 'bool')}`);
}

/** A SELECT with an ORDER BY and a LIMIT around it, which name its columns only. */
export function withTail(select: Select, tail: Tail, { contextOf, relate }: SelectContext): Select {
  const relation = relate('', { ...select, sql: `(${select.sql})` }, false);
  const aliases = select.columns.map((one) => ({ label: one.label, value: relation.column(one) }));
  const written = writeTail(tail, contextOf({ ...createScope(), aliases }));
  if (written === '') return select;
  const list = aliases.map(({ value }, i) => `${value.sql} AS c${i}`);
  return { ...select, sql: `SELECT ${list.join(', ')} FROM ${relation.write()}${written}` };
}

function readItems(tree: SelectTree, scope: ColumnScope, context: Context): readonly Item[] {
  let nameless = 0;
  const items = tree.items.flatMap((item) => {
    if (item.kind === 'star') return readStar(item, scope);
    const own = context.translateArray(item.expression);
    const value = scope.grouped.get(own.sql) ?? own;
    return [{ label: item.alias ?? findLabel(item) ?? `f${nameless++}_`, value }];
  });
  if (items.length > COLUMNS_MAX) throw reject(`has more than ${COLUMNS_MAX} columns`, tree);
  return items;
}

const COLUMNS_MAX = 200;

/** The last part of a name. */
function findLabel({ expression }: ItemTree): string | undefined {
  const label = expression.kind === 'name' ? expression.names.at(-1) : undefined;
  if (label === undefined || /^[A-Za-z_]\w{0,127}$/.test(label)) return label;
  throw reject(`has the column ${JSON.stringify(shorten(label))}; give it a plain name with AS`, expression);
}

/** The columns of `*`, with or without a relation before it and EXCEPT after it. */
function readStar(star: StarTree, scope: ColumnScope): readonly Item[] {
  const isWanted = ({ name }: { readonly name: string }) =>
    star.relation === undefined || isSame(name, star.relation);
  const relations = scope.relations.filter(isWanted);
  if (scope.records.some(isWanted)) throw reject('has * of an unnested record; name its fields', star);
  if (relations.length === 0)
    throw reject(`has ${star.relation === undefined ? '*' : `${star.relation}.*`} without a table`, star);
  const except = new Set(star.except.map((name) => name.toLowerCase()));
  const found = relations.flatMap((relation) =>
    relation.source.columns.map((column) => ({ relation, column })),
  );
  const kept = found.filter(({ column }) => !except.has(column.label.toLowerCase()));
  if (kept.length !== found.length - except.size)
    throw reject('has EXCEPT of what is not a column there', star);
  return kept.map(({ relation, column }) => ({ label: column.label, value: relation.column(column) }));
}

/** The ORDER BY and LIMIT of a SELECT, in a context with its list. */
function writeTail({ orderBy, limit }: Tail, context: Context): string {
  const terms = orderBy.map((term) => {
    const { expression } = term;
    return writeTerm(readPlaced(expression, context.scope.aliases) ?? context.translate(expression), term);
  });
  const order = terms.length === 0 ? '' : ` ORDER BY ${terms.join(', ')}`;
  if (limit === undefined) return order;
  return `${order} LIMIT ${limit.rows}${limit.offset === undefined ? '' : ` OFFSET ${limit.offset}`}`;
}

/** A column by its place, such as 1; `undefined` for other expressions. */
function readPlaced(expression: Expression, items: readonly Item[]): Value | undefined {
  if (expression.kind !== 'number') return undefined;
  const { digits } = expression;
  const value = /^\d{1,4}$/.test(digits) ? items[Number(digits) - 1]?.value : undefined;
  if (value !== undefined && value.type !== 'array') return value;
  if (value !== undefined)
    throw reject(`orders or groups by column ${digits}, which is an array`, expression);
  throw reject(`names column ${digits} by its place; there are ${items.length}`, expression);
}

/**
 * NULL is before all other values unless the term says otherwise. JSON is in the order of its numbers, then of its
 * other texts.
 */
function writeTerm(
  value: Value,
  { isDescending, nulls = isDescending ? 'LAST' : 'FIRST' }: OrderTerm,
): string {
  const { json, sql } = value;
  const way = isDescending ? 'DESC' : 'ASC';
  if (json === undefined) return `${notPlace(sql)} ${way} NULLS ${nulls}`;
  const place = nulls === 'LAST' ? 'ASC' : 'DESC';
  return `isNull(${sql}) ${place}, isNull(${json('number')}) ${way}, ${json('number')} ${way}, ${json('string')} ${way}`;
}

/** The engine takes a whole number in ORDER BY or GROUP BY for the place of a column; here it is a value. */
function notPlace(sql: string): string {
  return /^\(?-?\d+\)?$/.test(sql) ? `toInt64(${sql})` : sql;
}

/** Most tables and records of one FROM: a name is looked for in each, and a field may be written once for each record. */
const ITEMS_MAX = 20;

/**
 * Translates FROM. @returns a function that writes the clause, once all that the SELECT reads is known
 * @throws NotUnderstood for what is not understood in it
 */
function translateFrom(items: readonly FromItem[], context: SelectContext) {
  const relations: Relation[] = [];
  const records: { readonly name: string; readonly origin: Origin }[] = [];
  const shared = new Set<string>();
  const joins: (() => string)[] = [];
  const scope: ColumnScope = { ...createScope(), relations, records, shared };

  const readItem = (item: FromItem, i: number) => {
    if (i === ITEMS_MAX)
      throw reject(`must have at most ${ITEMS_MAX} tables and records in FROM; there is one more`);
    const origin = readUnnested(item, scope);
    if (origin !== undefined) {
      // A record stays without a match anyway.
      if (item.using.length > 0 || (item.on !== undefined && !(item.on.kind === 'bool' && item.on.value)))
        throw reject('has ON after UNNEST, other than ON TRUE; write the condition in WHERE');
      requireUnused(item.alias, scope);
      records.unshift({ name: item.alias ?? '', origin });
      return;
    }
    const { name, source } = readSource(item, context);
    requireUnused(name, scope);
    // A record that is read before any table is rejected, so the first relation is that of the first item.
    const join = relations.length === 0 ? undefined : item.join;
    const relation = context.relate(name, source, join === 'LEFT JOIN');
    relations.push(relation);
    const condition = readCondition(item, scope, context);
    for (const column of item.using) shared.add(column.toLowerCase());
    joins.push(() => `${join === undefined ? '' : ` ${join} `}${relation.write()}${condition}`);
  };
  for (const [i, item] of items.entries()) placed(item, () => readItem(item, i));
  return { scope, write: () => joins.map((write) => write()).join('') };
}

/** @param name `undefined` for a record without one; empty for a SELECT without one, of which there can be one */
function requireUnused(name: string | undefined, { relations, records }: ColumnScope): void {
  const taken = name === '' ? relations : [...relations, ...records];
  if (name !== undefined && taken.some((other) => isSame(other.name, name)))
    throw reject(`has ${name || 'SELECTs without a name'} twice in FROM; give each its own name with AS`);
}

/** The record of UNNEST(path), or of a path by itself, such as `t.metadata`; `undefined` for tables. */
function readUnnested({ read }: FromItem, scope: ColumnScope): Origin | undefined {
  if (read.kind === 'subquery') return undefined;
  const { kind, names } = read;
  const [first = '', ...others] = names;
  const path = names.join('.');
  if (kind === 'path') {
    if (others.length === 0) return undefined;
    if (![...scope.records, ...scope.relations].some(({ name }) => isSame(name, first)))
      throw reject(`reads ${path}; name a table without what it is in`);
  }
  const found = findName(names, scope);
  if (found === undefined || !('origin' in found))
    throw reject(`has UNNEST of ${path}, which is not a record; write the record that it is in before it`);
  return found.origin.relation.unnest(found.origin, found.steps);
}

function readSource({ read, alias }: FromItem, { visible, subquery }: SelectContext) {
  if (read.kind === 'subquery')
    return { name: alias ?? '', source: readable(subquery(read.query), read.query) };
  const table = read.names.join('.');
  const source = visible.get(table.toLowerCase());
  if (source !== undefined) return { name: alias ?? table, source };
  throw reject(`reads ${table}, which is not known; known are ${[...visible.keys()].join(', ')}`);
}

/** @throws NotUnderstood for a column without a type */
export function readable(select: Select, place: Placed): Select {
  const untyped = select.columns.find(({ type }) => type === 'null');
  if (untyped === undefined) return select;
  throw reject(`has the column ${untyped.label}, which is NULL without a type; cast it`, place);
}

function readCondition(
  { join, on, using }: FromItem,
  scope: ColumnScope,
  { contextOf }: SelectContext,
): string {
  if (join === undefined || join === 'CROSS JOIN') {
    if (on !== undefined || using.length > 0)
      throw reject(`has a condition after ${join ?? 'the first table'}`);
    return '';
  }
  if (on !== undefined) return ` ON ${placed(on, () => as(contextOf(scope).translate(on), 'bool'))}`;
  if (using.length === 0) throw reject('has JOIN without ON or USING');
  return ` ON ${using.map((column) => writeShared(column, scope)).join(' AND ')}`;
}

/** Compares the columns of one name of the last relation and of the first before it that has one. */
function writeShared(name: string, { relations }: ColumnScope): string {
  const right = relations.at(-1);
  const left = relations.slice(0, -1).find(({ source }) => getColumn(source, name) !== undefined);
  const [a, b] = [left, right].map((relation) => {
    const own = relation && getColumn(relation.source, name);
    return own && relation.column(own);
  });
  if (a !== undefined && b !== undefined) return compare('=', a, b);
  throw reject(`has USING (${name}), which is not a column of both sides`);
}
