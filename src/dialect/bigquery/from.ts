import { type FromItem, placed, type QueryTree, reject } from './parse/tree.ts';
import type { Origin, Relation, Source } from './relation.ts';
import { type ColumnScope, type Context, findName, readColumn } from './scope.ts';
import { as, compare } from './value.ts';

/** What FROM needs of the SELECT around it. */
export interface FromContext {
  /** A relation that no other SELECT has. */
  readonly relate: (name: string, source: Source, isOptional: boolean) => Relation;
  /** The view or WITH member of a name; `undefined` if there is none. */
  readonly findSource: (name: string) => Source | undefined;
  readonly known: () => readonly string[];
  /** A SELECT in brackets. */
  readonly subquery: (query: QueryTree) => Source;
  /** For the conditions of joins. */
  readonly contextOf: (scope: ColumnScope) => Context;
}

export interface From {
  readonly scope: ColumnScope;
  /** The FROM clause, once all that the SELECT reads is known. */
  readonly write: () => string;
}

/** Most tables and records of one FROM: a name is looked for in each, and a field may be written once for each record. */
const ITEMS_MAX = 20;

/** Translates FROM. @throws NotUnderstood for what is not understood in it */
export function translateFrom(items: readonly FromItem[], context: FromContext): From {
  const relations: Relation[] = [];
  const records: { readonly name: string; readonly origin: Origin }[] = [];
  const shared = new Set<string>();
  const joins: (() => string)[] = [];
  const scope: ColumnScope = { relations, records, shared, aliases: new Map(), grouped: new Map() };

  for (const [i, item] of items.entries()) {
    if (i === ITEMS_MAX)
      throw reject(`must have at most ${ITEMS_MAX} tables and records in FROM; there is one more`, item);
    const list = readUnnested(item, scope);
    if (list !== undefined) {
      requireNoCondition(item);
      requireUnused(item.alias, scope, item);
      records.unshift({ name: item.alias ?? '', origin: list });
      continue;
    }
    const { name, source } = readSource(item, context);
    requireUnused(name, scope, item);
    // A record that is read before any table is rejected, so the first relation is that of the first item.
    const join = relations.length === 0 ? undefined : item.join;
    const relation = context.relate(name, source, join === 'LEFT JOIN');
    relations.push(relation);
    const condition = readCondition(item, { scope, shared }, context);
    joins.push(() => `${join === undefined ? '' : ` ${join} `}${relation.write()}${condition}`);
  }
  return { scope, write: () => joins.map((write) => write()).join('') };
}

/** @param name `undefined` for a record without one; empty for a SELECT without one, of which there can be one */
function requireUnused(name: string | undefined, { relations, records }: ColumnScope, item: FromItem): void {
  const taken = name === '' ? relations : [...relations, ...records];
  if (name === undefined || !taken.some((other) => other.name.toLowerCase() === name.toLowerCase())) return;
  throw reject(`has ${name || 'SELECTs without a name'} twice in FROM; give each its own name with AS`, item);
}

/** The record of UNNEST(path), or of a path by itself, such as `t.metadata`; `undefined` for tables. */
function readUnnested(item: FromItem, scope: ColumnScope): Origin | undefined {
  const names = readUnnestedPath(item, scope);
  if (names === undefined) return undefined;
  const found = placed(item, () => findName(names, scope));
  if (found !== undefined && 'origin' in found)
    return found.origin.relation.unnest(found.origin, found.steps);
  throw reject(
    `has UNNEST of ${names.join('.')}, which is not a record; write the record that it is in before it`,
    item,
  );
}

function readUnnestedPath({ read, ...item }: FromItem, scope: ColumnScope): readonly string[] | undefined {
  if (read.kind === 'unnest') {
    if (read.list.kind === 'name') return read.list.names;
    throw reject('has UNNEST of something else than a path of the metadata', item);
  }
  const [first = '', ...others] = read.kind === 'path' ? read.names : [];
  if (read.kind !== 'path' || others.length === 0) return undefined;
  const isKnown = [...scope.records, ...scope.relations].some(
    ({ name }) => name.toLowerCase() === first.toLowerCase(),
  );
  if (isKnown) return read.names;
  throw reject(`reads ${read.names.join('.')}; name a table without what it is in`, item);
}

/** A record stays without a match anyway. */
function requireNoCondition({ on, using, ...item }: FromItem): void {
  const isPlain = on === undefined || (on.kind === 'bool' && on.value);
  if (!isPlain || using.length > 0)
    throw reject('has ON after UNNEST, other than ON TRUE; write the condition in WHERE', item);
}

function readSource({ read, alias, ...item }: FromItem, { findSource, known, subquery }: FromContext) {
  if (read.kind === 'subquery') return { name: alias ?? '', source: subquery(read.query) };
  const table = read.kind === 'path' ? read.names.join('.') : '';
  const source = findSource(table);
  if (source === undefined)
    throw reject(`reads ${table}, which is not known; known are ${known().join(', ')}`, item);
  return { name: alias ?? table, source };
}

interface JoinScope {
  readonly scope: ColumnScope;
  readonly shared: Set<string>;
}

function readCondition(item: FromItem, { scope, shared }: JoinScope, context: FromContext): string {
  const { join, on, using } = item;
  const { contextOf } = context;
  if (join === undefined || join === 'CROSS JOIN') {
    if (on !== undefined || using.length > 0)
      throw reject(`has a condition after ${join ?? 'the first table'}`, item);
    return '';
  }
  return placed(on ?? item, () => {
    if (on !== undefined) return ` ON ${as(contextOf(scope).translate(on), 'bool')}`;
    if (using.length === 0) throw reject('has JOIN without ON or USING', item);
    return ` ON ${using.map((column) => writeShared(column, { item, scope, shared })).join(' AND ')}`;
  });
}

function writeShared(
  column: string,
  { item, scope, shared }: JoinScope & { readonly item: FromItem },
): string {
  const right = scope.relations.at(-1);
  const left = scope.relations.slice(0, -1).find(({ source }) => source.columns.has(column.toLowerCase()));
  const [a, b] = [left, right].map((relation) => {
    const own = relation?.source.columns.get(column.toLowerCase());
    return relation && own && readColumn(relation, own);
  });
  if (a === undefined || b === undefined)
    throw reject(`has USING (${column}), which is not a column of both sides`, item);
  shared.add(column.toLowerCase());
  return compare('=', a, b);
}
