import { type SelectContext, translateFrom } from './from.ts';
import {
  type Expression,
  type ItemTree,
  type OrderTerm,
  placed,
  reject,
  type SelectTree,
  type StarTree,
  shorten,
  type Tail,
} from './parse/tree.ts';
import type { Select } from './relation.ts';
import { type ColumnScope, type Context, createScope, findBounds, type Item, isSame } from './scope.ts';
import { as, groupedValue, isJson, type Value } from './value.ts';

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
