import { type DialectName, SQL_INSTANT_PREFIX } from '../../definitions/endpoint.ts';
import { SQL_PARAMETER } from '../../definitions/parameter.ts';
import { placeAt, TailraceError } from '../../errors.ts';
import { parseInstant } from '../../lib/instant.ts';
import { formatTime } from './function.ts';
import { parse } from './parse/query.ts';
import {
  type Expression,
  NotUnderstood,
  type QueryTree,
  reject,
  type SelectTree,
  type Tail,
} from './parse/tree.ts';
import { type Query, type QueryOptions, translateQuery } from './query.ts';
import { type DialectView, FLAG_LABEL } from './relation.ts';
import type { Bounds } from './scope.ts';
import { AGGREGATES } from './signature.ts';
import { SQL_CHARS_MAX, type Type } from './value.ts';

export interface TranslateOptions {
  /** The views of the stored query, by name. */
  readonly views: ReadonlyMap<string, DialectView>;
  /** The instant of the query: that of `@now`. */
  readonly now: string;
  readonly dialect: DialectName;
}

/** The sandbox checks both SELECTs as it does any other: this is not a boundary. */
export interface Translation {
  /** A ClickHouse SELECT over the views. */
  readonly sql: string;
  /**
   * A faster one, over typed columns only, if there is one. The answer is that of the whole SELECT if the last column,
   * `flag`, is not above 0 in any row.
   */
  readonly typed: { readonly sql: string; readonly flag: string } | undefined;
  /** The constant instants of both by parameter, so that SELECTs that differ only in them are one text. */
  readonly instants: Readonly<Record<string, string>>;
  /** The columns of the answer in order, with the BigQuery type by which each is written. */
  readonly columns: readonly TranslatedColumn[];
  /** Bounds that hold for every row that is read of any table, for the parameters of the views. */
  readonly bounds: Bounds;
}

/**
 * A column of the answer. A `timestamp` is microseconds since 1970, a `datetime` and a `string` are texts, `json` and
 * `record` are JSON text that has to stand in the answer as it is, NULL for a missing field.
 */
export interface TranslatedColumn {
  readonly name: string;
  readonly type: Exclude<Type, 'null' | 'date' | 'array'>;
}

/**
 * Translates a caller's BigQuery SELECT to ClickHouse (spec: query sandboxing, with another dialect). What is not
 * understood is rejected by name and place; docs/supabase.md lists what is understood.
 * @throws TailraceError `invalid_parameter`
 */
export function translateBigQuery(sql: string, options: TranslateOptions): Translation {
  const text = sql.toWellFormed();
  try {
    return translate(text, options);
  } catch (error) {
    if (!(error instanceof NotUnderstood)) throw error;
    const { line, column } = placeAt(text, error.place?.start ?? 0);
    const at = error.place === undefined ? '' : ` at line ${line}, column ${column}`;
    const fault = { parameter: SQL_PARAMETER, message: `${error.message}${at}` };
    throw new TailraceError('invalid_parameter', `${SQL_PARAMETER} ${fault.message}`, { errors: [fault] });
  }
}

function translate(sql: string, { views, now, dialect }: TranslateOptions): Translation {
  const instant = parseInstant(now);
  if (instant === undefined) throw new RangeError(`${now} is not an instant`);
  const options = { root: parse(sql, dialect), views, now: instant, isTyped: false };
  const query = translateQuery(options);
  // SELECTs that differ only in their constant instants share a check, if these are parameters. Equal instants share
  // one: the engine compares the expressions of GROUP BY with those of the list.
  const names = new Map<string, string>();
  const lift = (text: string) =>
    text.replace(INSTANT, (_, at: string) => {
      const name = names.get(at) ?? `${SQL_INSTANT_PREFIX}${names.size}`;
      names.set(at, name);
      return `@${name}`;
    });
  const whole = lift(writeQuery(query));
  const typed = translateTyped(options, query);
  return {
    sql: whole,
    typed: typed && { ...typed, sql: lift(typed.sql) },
    instants: Object.fromEntries([...names].map(([at, name]) => [name, at])),
    columns: query.columns.map(({ label, type }) => ({ name: label, type: outputType(type) })),
    bounds: query.bounds,
  };
}

/** @param query the whole translation */
function translateTyped(options: QueryOptions, { columns }: Query): Translation['typed'] {
  const labels = new Set(columns.map(({ label }) => label.toLowerCase()));
  let flag = 'untyped';
  while (labels.has(flag)) flag += '_';
  const root = flagUntyped(options.root, flag);
  if (root === undefined) return undefined;
  try {
    return { sql: writeQuery(translateQuery({ ...options, root, isTyped: true })), flag };
  } catch (error) {
    if (error instanceof NotUnderstood) return undefined; // such as one column too many
    throw error;
  }
}

/**
 * A SELECT of one table whose answer is that of `root` if its last column, `label`, is false or 0 in all of its rows.
 * Rows that may have a value beside their typed columns pass every condition. They are in the answer, if there are
 * some, since either they come first, or they are ordered by what is known of them; and if the answer has none, no row
 * was left out for one.
 * @param label a name that no other column has
 * @returns `undefined` for SELECTs of other forms
 */
function flagUntyped(root: QueryTree, label: string): QueryTree | undefined {
  const { withs, arms, tail } = root;
  const [select, ...others] = arms;
  if (select?.kind !== 'select' || others.length > 0 || withs.length > 0) return undefined;
  if (tail.limit?.offset !== undefined || !isPlain(select)) return undefined;
  const { start } = select;
  const flag: Expression = { start, kind: 'name', names: [FLAG_LABEL] };
  const isGrouped = select.groupBy.length > 0 || hasNode(select.items, isAggregate);
  const last: Expression = isGrouped ? { start, kind: 'call', name: 'countif', args: [flag] } : flag;
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
  const hidden = items.flatMap((item) => {
    if (item.kind === 'star' || isStored(item.expression)) return [];
    return item.alias?.toLowerCase() ?? lastName(item.expression);
  });
  return orderBy.every(({ expression }) => isStored(expression) && !hidden.includes(lastName(expression)));
}

const STORED: ReadonlySet<string> = new Set(['id', 'timestamp', 'event_message']);

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

function writeQuery({ columns, withs, sql }: Query): string {
  const list = columns.map(({ label, type }, i) => `${writeOutput(`c${i}`, type)} AS \`${label}\``);
  const before = withs.length === 0 ? '' : `WITH ${withs.join(', ')} `;
  const written = `${before}SELECT ${list.join(', ')} FROM (${sql})`;
  if (written.length > SQL_CHARS_MAX) throw reject('is too large: ask in several requests');
  return written;
}

function outputType(type: Type): TranslatedColumn['type'] {
  return type === 'null' || type === 'date' || type === 'array' ? 'string' : type; // arrays have been rejected
}

function writeOutput(column: string, type: Type): string {
  if (type === 'timestamp') return `toUnixTimestamp64Micro(${column})`;
  if (type === 'datetime') return formatTime(column, 'T');
  if (type === 'bool') return `toBool(${column})`;
  return type === 'date' ? `toString(${column})` : column;
}

// As value.ts writes a constant. No text in quotes contains it, since its own quotes would be escaped, and no digit
// follows a text.
const INSTANT = /(?<=\btoDateTime64\()'(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6})'(?=, 6, 'UTC'\))/g;
