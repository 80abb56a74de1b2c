import type { Context } from './context.ts';
import { as } from './convert.ts';
import { compare } from './operator.ts';
import { readAlias, readFunctionName, readName } from './parse/name.ts';
import type { Node, Reader } from './parse/tree.ts';
import { createRelation, type Origin, type Relation, type Source } from './relation.ts';
import { findName, readColumn, type Scope } from './scope.ts';

/** What FROM needs of the SELECT around it. */
export interface FromContext {
  readonly reader: Reader;
  /** A name for a relation that no other has. */
  readonly nextAlias: () => string;
  /** The view or WITH member of a name; `undefined` if there is none. */
  readonly findSource: (name: string) => Source | undefined;
  readonly known: () => readonly string[];
  /** A SELECT in brackets. */
  readonly subquery: (node: Node) => Source;
  /** For the conditions of joins. */
  readonly contextOf: (scope: Scope) => Context;
}

export interface From {
  readonly scope: Scope;
  /** The FROM clause, once all that the SELECT reads is known. */
  readonly write: () => string;
}

const JOINS: Readonly<Record<string, string>> = {
  'CROSS JOIN': 'CROSS JOIN',
  JOIN: 'INNER JOIN',
  'INNER JOIN': 'INNER JOIN',
  'LEFT JOIN': 'LEFT JOIN',
};

/** Translates FROM. @throws TailraceError `invalid_parameter` for what is not understood in it */
export function translateFrom(items: readonly Node[], context: FromContext): From {
  const { reader } = context;
  const relations: Relation[] = [];
  const records: { readonly name: string; readonly origin: Origin }[] = [];
  const shared = new Set<string>();
  const joins: (() => string)[] = [];
  const scope: Scope = { relations, records, shared, aliases: new Map(), grouped: new Map() };

  for (const item of items) {
    const join = readJoin(item, relations.length === 0, reader);
    const list = readUnnested(item, scope, context);
    if (list !== undefined) {
      requireNoCondition(item, reader);
      records.unshift({ name: readAlias(reader, item) ?? '', origin: list });
      continue;
    }
    const { name, source } = readSource(item, context);
    if (relations.some((other) => other.name.toLowerCase() === name.toLowerCase()))
      throw reader.refuse(`reads ${name} twice; give each a name of its own with AS`, item);
    const relation = createRelation(name, context.nextAlias(), source);
    relations.push(relation);
    if (join === 'LEFT JOIN') relation.setOptional();
    const condition = join === undefined ? '' : readCondition(item, { scope, shared, join }, context);
    joins.push(() => `${join === undefined ? '' : ` ${join} `}${relation.write()}${condition}`);
  }
  return { scope, write: () => joins.map((write) => write()).join('') };
}

/** `undefined` for the first. */
function readJoin(item: Node, isFirst: boolean, reader: Reader): string | undefined {
  const join = reader.word(item, 'join');
  if (isFirst && join === undefined) return undefined;
  const known = join === undefined ? 'CROSS JOIN' : Object.hasOwn(JOINS, join) ? JOINS[join] : undefined;
  if (known === undefined || isFirst) throw reader.refuse(`has ${join}, which is not understood`, item);
  return known;
}

/** The record of UNNEST(path), or of a path by itself, such as `t.metadata`; `undefined` for tables. */
function readUnnested(item: Node, scope: Scope, { reader }: FromContext): Origin | undefined {
  const names = readUnnestedPath(item, scope, reader);
  if (names === undefined) return undefined;
  const found = findName(names, scope);
  if (typeof found === 'object' && 'origin' in found)
    return found.origin.relation.unnest(found.origin, found.steps);
  throw reader.refuse(
    `has UNNEST of ${names.join('.')}, which is no record; write the record that it is in before it`,
    item,
  );
}

function readUnnestedPath(item: Node, scope: Scope, reader: Reader): readonly string[] | undefined {
  if (reader.word(item, 'type') === 'unnest') {
    const list = reader.must(item, 'expr');
    const name = reader.word(list, 'type') === 'column_ref' ? readName(reader, list) : undefined;
    if (name?.kind === 'name') return name.names;
    throw reader.refuse('has UNNEST of something else than a path of the metadata', item);
  }
  const db = reader.word(item, 'catalog') ?? reader.word(item, 'db');
  if (db === undefined) return undefined;
  const schema = reader.word(item, 'schema');
  const names = [db, ...(schema === undefined ? [] : [schema]), reader.word(item, 'table') ?? ''];
  reader.word(item, 'db');
  const isKnown = [...scope.records, ...scope.relations].some(
    ({ name }) => name.toLowerCase() === db.toLowerCase(),
  );
  if (isKnown) return names;
  throw reader.refuse(`reads ${names.join('.')}; name a table without what it is in`, item);
}

/** A record stays without a match anyway. */
function requireNoCondition(item: Node, reader: Reader): void {
  const condition = reader.node(item, 'on');
  if (condition === undefined) return;
  const isTrue = reader.word(condition, 'type') === 'bool' && reader.take(condition, 'value') === true;
  if (!isTrue)
    throw reader.refuse('has ON after UNNEST, other than ON TRUE; write the condition in WHERE', item);
}

function readSource(item: Node, { reader, findSource, known, subquery }: FromContext) {
  const alias = readAlias(reader, item);
  const inner = reader.node(item, 'expr');
  if (inner !== undefined) {
    if (reader.word(inner, 'type') === 'function')
      throw reader.refuse(
        `has a function in the place of a table, ${readFunctionName(reader, inner)}, which is not known`,
        item,
      );
    return { name: alias ?? '', source: subquery(inner) };
  }
  const table = reader.word(item, 'table');
  if (table === undefined) throw reader.refuse('has a FROM that is not understood', item);
  const source = findSource(table);
  if (source === undefined)
    throw reader.refuse(`reads ${table}, which is not known; known are ${known().join(', ')}`, item);
  reader.take(item, 'operator');
  return { name: alias ?? table, source };
}

function readCondition(
  item: Node,
  { scope, shared, join }: { scope: Scope; shared: Set<string>; join: string },
  { reader, contextOf }: FromContext,
): string {
  const on = reader.node(item, 'on');
  const using = reader.nodes(item, 'using').map((column) => {
    reader.word(column, 'type');
    return reader.word(column, 'value') ?? '';
  });
  if (join === 'CROSS JOIN') {
    if (on !== undefined || using.length > 0) throw reader.refuse('has a condition after CROSS JOIN', item);
    return '';
  }
  if (on !== undefined) return ` ON ${as(contextOf(scope).translate(on), 'bool')}`;
  if (using.length === 0) throw reader.refuse('has JOIN without ON or USING', item);
  return ` ON ${using.map((column) => writeShared(column, { item, scope, shared }, reader)).join(' AND ')}`;
}

function writeShared(
  column: string,
  { item, scope, shared }: { item: Node; scope: Scope; shared: Set<string> },
  reader: Reader,
): string {
  const right = scope.relations.at(-1);
  const left = scope.relations.slice(0, -1).find(({ source }) => source.columns.has(column.toLowerCase()));
  const [a, b] = [left, right].map((relation) => {
    const own = relation?.source.columns.get(column.toLowerCase());
    return relation && own && readColumn(relation, own);
  });
  if (a === undefined || b === undefined)
    throw reader.refuse(`has USING (${column}), which is not a column of both sides`, item);
  shared.add(column.toLowerCase());
  return compare('=', a, b);
}
