import { type FromItem, type Placed, placed, type QueryTree, reject } from './parse/tree.ts';
import type { Origin, Relation, Select, Source } from './relation.ts';
import {
  type Bounds,
  type ColumnScope,
  type Context,
  createScope,
  findName,
  getColumn,
  isSame,
} from './scope.ts';
import { as, compare } from './value.ts';

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

/** Most tables and records of one FROM: a name is looked for in each, and a field may be written once for each record. */
const ITEMS_MAX = 20;

/**
 * Translates FROM. @returns a function that writes the clause, once all that the SELECT reads is known
 * @throws NotUnderstood for what is not understood in it
 */
export function translateFrom(items: readonly FromItem[], context: SelectContext) {
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
