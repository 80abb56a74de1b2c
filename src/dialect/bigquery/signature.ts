import { createMatcher, findPatternFault } from '../../sql/pattern.ts';
import { writeValue } from '../../sql/sql.ts';
import { type Expression, type Form, reject } from './parse/tree.ts';
import type { Context } from './scope.ts';
import { as, isJson, isTime, jsonValue, type TargetType, type Type, toNumber, type Value } from './value.ts';

/** A function of BigQuery, with how many arguments it takes. */
export interface BigQueryFunction {
  readonly min: number;
  readonly max: number;
  /** @throws NotUnderstood for arguments that are not understood */
  readonly write: (args: readonly Expression[], context: Context, name: string) => Value;
}

/**
 * An argument: a value of a type, or `part`, a word such as HOUR, `text`, a text in quotes, `pattern`, a regular
 * expression as it is, and `count`, a whole number in digits.
 */
type Kind = TargetType | 'part' | 'text' | 'pattern' | 'count';

/** Stands for an argument that a call leaves out. */
export const NULL: Expression = { kind: 'null', start: 0 };

/** Arguments of a call with any number of them. */
export const ARGUMENTS_MAX = 50;

/** A function by how many arguments it takes. */
export const takes = (min: number, max: number, write: BigQueryFunction['write']): BigQueryFunction => ({
  min,
  max,
  write,
});

/**
 * A function of values, such as `(string, count, count?)`.
 * @param write gets the SQL of each argument that is there; a text is the name of the engine's function
 */
export function plain(
  signature: readonly (Kind | `${Kind}?` | `${Kind}…`)[],
  type: Type,
  write: string | ((...sqls: string[]) => string),
): BigQueryFunction {
  const writeCall = typeof write === 'string' ? (...sqls: string[]) => `${write}(${sqls.join(', ')})` : write;
  const kinds = signature.map((one) => one.replace(/\W$/, '') as Kind);
  const isVariadic = signature.some((one) => one.endsWith('…'));
  return {
    min: signature.filter((one) => !one.endsWith('?')).length,
    max: isVariadic ? ARGUMENTS_MAX : kinds.length,
    write(args, context, name) {
      const kindOf = (i: number) => kinds[i] ?? kinds.at(-1) ?? 'string';
      const sqls = args.map((arg, i) => readArgument(kindOf(i), arg, { name, context }));
      const given = sqls.filter((sql) => sql !== undefined);
      return { type, sql: given.length < sqls.length ? 'NULL' : writeCall(...given) };
    },
  };
}

/** @returns `undefined` for NULL instead of a constant: then the call returns NULL */
function readArgument(
  kind: Kind,
  arg: Expression,
  { name, context }: { readonly name: string; readonly context: Context },
): string | undefined {
  const missing = (what: string) => reject(`calls ${name} without ${what} where one belongs`);
  if (kind === 'part') {
    const part = readPart(arg);
    if (part === undefined) throw missing('a word such as HOUR');
    return part;
  }
  const value = context.translate(arg);
  if (kind !== 'count' && kind !== 'text' && kind !== 'pattern') return as(value, kind);
  const { type, text, sql } = value;
  if (type === 'null') return undefined;
  if (kind === 'count') {
    if (!/^\d{1,9}$/.test(sql)) throw missing('a whole number');
    return sql;
  }
  if (text === undefined) throw missing('a string in quotes');
  return kind === 'pattern' ? readPattern(text) : writeValue(text);
}

/** A word such as HOUR instead of a value, in lower case; `week(monday)` is `isoweek`. */
function readPart(expression: Expression): string | undefined {
  if (expression.kind === 'name' && expression.names.length === 1)
    return String(expression.names[0]).toLowerCase();
  const [day] = expression.kind === 'call' && expression.name === 'week' ? expression.args : [];
  return day !== undefined && readPart(day) === 'monday' ? 'isoweek' : undefined;
}

/** Checks a regular expression of a caller. @throws NotUnderstood for a pattern that is rejected */
function readPattern(pattern: string): string {
  const fault = findPatternFault(pattern);
  if (fault !== undefined) throw reject(`has a pattern that ${fault}`);
  if (typeof createMatcher(pattern) === 'string')
    throw reject(`has ${JSON.stringify(pattern.slice(0, 60))}, which is not a regular expression of RE2`);
  return pattern;
}

/** An aggregate function of one argument. @param write throws NotUnderstood for an argument of another type */
const aggregate = (write: (value: Value) => Value) =>
  takes(1, 1, ([arg = NULL], { translateRow }) => write(translateRow(arg)));

/** The first and last of JSON values are those of ORDER BY: numbers, then other texts. */
const extreme = (name: 'min' | 'max') =>
  aggregate(({ json, sql, type }) => {
    if (json === undefined) return { type, sql: `${name}OrNull(${sql})` };
    const order = `tuple(isNull(${json('number')}), ifNull(${json('number')}, 0), ifNull(${json('string')}, ''))`;
    return jsonValue(`ifNull(arg${name === 'min' ? 'Min' : 'Max'}OrNull(${sql}, ${order}), '')`);
  });

const countDistinct = (value: Value) => `uniqExact(${value.json?.('string') ?? value.sql})`;

/** Every aggregate function besides COUNT, by name in lower case. */
export const AGGREGATES: Readonly<Record<string, BigQueryFunction>> = {
  sum: aggregate((value) => {
    const { type, sql } = toNumber(value);
    return { type, sql: `sumOrNull(${sql})` };
  }),
  avg: aggregate((value) => ({ type: 'float64', sql: `avgOrNull(${as(value, 'float64')})` })),
  min: extreme('min'),
  max: extreme('max'),
  any_value: aggregate((value) => {
    const sql = `any(${value.sql})`;
    return isJson(value) ? jsonValue(`ifNull(${sql}, '')`) : { type: value.type, sql };
  }),
  countif: aggregate((value) => ({ type: 'int64', sql: `toInt64(countIf(${as(value, 'bool')}))` })),
  approx_count_distinct: aggregate((value) => ({ type: 'int64', sql: `toInt64(${countDistinct(value)})` })),
  logical_and: aggregate((value) => ({ type: 'bool', sql: `(minOrNull(${as(value, 'bool')}) = 1)` })),
  logical_or: aggregate((value) => ({ type: 'bool', sql: `(maxOrNull(${as(value, 'bool')}) = 1)` })),
  approx_quantiles: takes(2, 2, ([value = NULL, parts = NULL], { translate, translateRow }) =>
    writeQuantiles(translateRow(value), Number(translate(parts).sql)),
  ),
};

/** `count(*)`, `count(x)` and `count(DISTINCT x)`, each also with `OVER ()`. @throws NotUnderstood for other arguments */
export function translateCount(
  { args, isOfRows, isDistinct, isOver }: Form<'call'>,
  context: Context,
): Value {
  const [arg, ...others] = args;
  if ((isOfRows === true) === (arg !== undefined) || others.length > 0)
    throw reject(`calls count with ${args.length} arguments; it takes 1, or *`);
  const value = arg && context.translateRow(arg);
  const counted = value === undefined ? 'count()' : isDistinct ? countDistinct(value) : `count(${value.sql})`;
  return { type: 'int64', sql: `toInt64(${counted}${isOver ? ' OVER ()' : ''})` };
}

/**
 * `approx_quantiles(x, n)[offset(k)]`, or the member of such an array.
 * @throws NotUnderstood for the member of any other list
 */
export function translateMember(
  { list, index }: Form<'member'>,
  { translate, translateRow, translateArray }: Context,
): Value {
  const { sql } = translate(index);
  const place = /^\d+$/.test(sql) ? Number(sql) : Number.NaN;
  const isCall = list.kind === 'call' && list.name === 'approx_quantiles' && list.args.length === 2;
  if (!isCall) return writeMember(translateArray(list), place);
  const [value = NULL, parts = NULL] = list.args;
  return writeQuantile(translateRow(value), Number(translate(parts).sql), place);
}

const PARTS_MAX = 100_000;
// Each is a number in the SQL of an array.
const ARRAY_PARTS_MAX = 100;

/** `approx_quantiles(x, parts)[offset(k)]`: an exact quantile. @throws NotUnderstood for a place beyond the parts */
function writeQuantile(value: Value, parts: number, place: number): Value {
  requireParts(parts, PARTS_MAX);
  requirePlace(parts, place);
  const { type, sql } = isTime(value) ? value : toNumber(value);
  return { type, sql: `quantileExactOrNull(${place / parts})(${sql})` };
}

/** `approx_quantiles(x, parts)`: an array of exact quantiles, empty instead of NULL for a group without values. */
function writeQuantiles(value: Value, parts: number): Value {
  requireParts(parts, ARRAY_PARTS_MAX);
  const { type, sql } = isTime(value) ? value : toNumber(value);
  const levels = Array.from({ length: parts + 1 }, (_, place) => place / parts).join(', ');
  const written = `if(count(${sql}) = 0, [], quantilesExact(${levels})(${sql}))`;
  return { type: 'array', sql: written, members: { type, parts } };
}

/** A member of an array of `writeQuantiles`. @throws NotUnderstood for a place beyond the parts */
function writeMember({ sql, members }: Value, place: number): Value {
  if (members === undefined)
    throw reject('has […] after something else than approx_quantiles(x, 100) or a column of such');
  requirePlace(members.parts, place);
  return { type: members.type, sql: `if(empty(${sql}), NULL, arrayElement(${sql}, ${place + 1}))` };
}

function requireParts(parts: number, max: number): void {
  if (!Number.isInteger(parts) || parts < 1 || parts > max)
    throw reject(`has approx_quantiles with a number other than 1 to ${max}`);
}

function requirePlace(parts: number, place: number): void {
  if (!Number.isInteger(place) || place < 0 || place > parts)
    throw reject(`has an offset beyond the ${parts + 1} members of approx_quantiles`);
}
