import { RE2JS } from 're2js';
import {
  compare,
  isDatetime,
  isTimestamp,
  type Json,
  keyOf,
  member,
  number,
  text,
  toJson,
  type Value,
} from './value.ts';

/** A path has the type `dynamic`: each operation reads its JSON as the type that the operation needs. */
export type Type = 'string' | 'int' | 'float' | 'bool' | 'timestamp' | 'datetime' | 'dynamic';

/** What the names of a query stand for: columns, and aliases of tables and of unnested records. */
export type Row = Readonly<Record<string, Value>>;

/** The rows that an expression of the SELECT list sees: those of a group, or one row. */
export interface Group {
  readonly rows: readonly Row[];
  /** Rows of the whole answer before LIMIT: `count(*) over ()`. */
  readonly outputs: number;
}

/** An expression: its BigQuery SQL, and its value computed from events. */
export interface Expression {
  readonly type: Type;
  readonly sql: string;
  readonly value: (group: Group) => Value;
}

export function oneRow(row: Row): Group {
  return { rows: [row], outputs: 0 };
}

function define(type: Type, sql: string, value: (group: Group) => Value): Expression {
  return { type, sql, value };
}

export function literal(value: null | boolean | number | bigint | string, sql: string): Expression {
  const isWhole = typeof value === 'bigint' || Number.isInteger(value);
  const type =
    typeof value === 'string' ? 'string' : typeof value === 'boolean' ? 'bool' : isWhole ? 'int' : 'float';
  return define(value === null ? 'dynamic' : type, sql, () => value);
}

/** `'…'` with escapes. */
export function quoted(value: string): string {
  const escaped = value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n');
  return `'${escaped}'`;
}

/** A name, or members below one: `m.request.method`. */
export function path(type: Type, sql: string, [root = '', ...names]: readonly string[]): Expression {
  return define(type, sql, ({ rows }) => {
    // A row holds timestamps only in columns, which have no members.
    const found = names.reduce<Value>((value, name) => member(value as Json, name), rows[0]?.[root] ?? null);
    return type === 'string' ? text(found) : found;
  });
}

/** An operation on values of which none is null; null if one is. */
export function strict(
  type: Type,
  sql: string,
  operands: readonly Expression[],
  compute: (...values: Exclude<Value, null>[]) => Value,
): Expression {
  return define(type, sql, (group) => {
    const values = operands.map((one) => one.value(group));
    return values.some((value) => value === null) ? null : compute(...(values as Exclude<Value, null>[])); // none is null
  });
}

/** An expression read as a type; texts that hold no number are null as numbers. */
export function read(as: Type, of: Expression): Expression {
  return { ...of, type: as, value: (group) => readAs(as, of.value(group)) };
}

function readAs(type: Type, value: Value): Value {
  if (type === 'int' || type === 'float') return number(value);
  if (type === 'string') return text(value);
  return value;
}

/** Numbers are compared as numbers if one side is a number by its type; else texts as texts. */
export function comparison(operator: string, left: Expression, right: Expression): Expression {
  const types = [left.type, right.type];
  const as =
    types.includes('int') || types.includes('float')
      ? 'int'
      : types.includes('string')
        ? 'string'
        : 'dynamic';
  const operands = types.some((type) => type === 'timestamp' || type === 'datetime')
    ? [left, right]
    : [read(as, left), read(as, right)];
  return strict('bool', `${left.sql} ${operator} ${right.sql}`, operands, (a, b) =>
    holds(operator, compare(a, b)),
  );
}

function holds(operator: string, order: number): boolean {
  if (operator === '=') return order === 0;
  if (operator === '!=' || operator === '<>') return order !== 0;
  if (operator === '<') return order < 0;
  if (operator === '<=') return order <= 0;
  return operator === '>' ? order > 0 : order >= 0;
}

/** AND and OR of three values: false decides AND, true decides OR. */
export function connective(operator: 'and' | 'or', operands: readonly Expression[], sql: string): Expression {
  const deciding = operator === 'or';
  return define('bool', sql, (group) => {
    const values = operands.map((one) => one.value(group));
    if (values.includes(deciding)) return deciding;
    return values.includes(null) ? null : !deciding;
  });
}

export function not(of: Expression, sql = `not (${of.sql})`): Expression {
  return strict('bool', sql, [of], (value) => value !== true);
}

export function isNull(of: Expression, negated: boolean): Expression {
  const sql = `${of.sql} is ${negated ? 'not ' : ''}null`;
  return define('bool', sql, (group) => (of.value(group) === null) !== negated);
}

/** `x in (…)`: null if nothing is equal and something is null. */
export function isIn(of: Expression, members: readonly Expression[], negated: boolean): Expression {
  const equal = connective(
    'or',
    members.map((one) => comparison('=', of, one)),
    '',
  );
  const sql = `${of.sql} ${negated ? 'not ' : ''}in (${members.map((one) => one.sql).join(', ')})`;
  return negated ? not(equal, sql) : { ...equal, sql };
}

export function between(of: Expression, least: Expression, most: Expression): Expression {
  const both = [comparison('>=', of, least), comparison('<=', of, most)];
  return connective('and', both, `${of.sql} between ${least.sql} and ${most.sql}`);
}

/** LIKE over the whole text: `%` is any text, `_` one character. */
export function like(of: Expression, pattern: string, negated: boolean): Expression {
  const source = [...pattern]
    .map((sign) => (sign === '%' ? '.*' : sign === '_' ? '.' : RE2JS.quote(sign)))
    .join('');
  const regex = new RegExp(`^(?:${source})$`, 'su');
  const sql = `${of.sql} ${negated ? 'not ' : ''}like ${quoted(pattern)}`;
  return strict('bool', sql, [read('string', of)], (value) => regex.test(String(value)) !== negated);
}

/** Whether a pattern of RE2 is found anywhere. */
export function regexpContains(of: Expression, pattern: string, sql: string): Expression {
  const compiled = RE2JS.compile(pattern);
  return strict('bool', sql, [read('string', of)], (value) => compiled.matcher(String(value)).find());
}

/** `case when … then … else … end`; the type is that of the results. */
export function conditional(
  branches: readonly { readonly when: Expression; readonly result: Expression }[],
  otherwise: Expression | undefined,
  sql: string,
): Expression {
  const type = branches[0]?.result.type ?? 'dynamic';
  return define(type, sql, (group) => {
    const taken = branches.find(({ when }) => when.value(group) === true)?.result ?? otherwise;
    return taken?.value(group) ?? null;
  });
}

export function coalesce(operands: readonly Expression[], sql: string): Expression {
  return define(operands[0]?.type ?? 'dynamic', sql, (group) => {
    for (const one of operands) {
      const value = one.value(group);
      if (value !== null) return value;
    }
    return null;
  });
}

/** An aggregate of a value that is computed for each row; rows with null are left out. */
export function aggregate(
  type: Type,
  sql: string,
  of: Expression,
  compute: (values: readonly Value[]) => Value,
): Expression {
  return define(type, sql, ({ rows }) =>
    compute(rows.map((row) => of.value(oneRow(row))).filter((value) => value !== null)),
  );
}

export function countRows(sql: string): Expression {
  return define('int', sql, ({ rows }) => rows.length);
}

export function countOverAll(sql: string): Expression {
  return define('int', sql, ({ outputs }) => outputs);
}

export function distinct(values: readonly Value[]): number {
  return new Set(values.map(keyOf)).size;
}

export function sum(values: readonly Value[]): Value {
  if (values.length === 0) return null;
  const numbers = values.map((value) => number(value) ?? 0);
  if (numbers.every((one) => typeof one === 'bigint' || Number.isSafeInteger(one)))
    return plain(numbers.reduce<bigint>((total, one) => total + BigInt(one), 0n));
  return numbers.reduce<number>((total, one) => total + Number(one), 0);
}

export function average(values: readonly Value[]): Value {
  const total = sum(values);
  return total === null ? null : Number(total) / values.length;
}

export function extreme(sign: 1 | -1, values: readonly Value[]): Value {
  return values.reduce<Value>(
    (best, value) => (best === null || compare(value, best) * sign > 0 ? value : best),
    null,
  );
}

/** A bigint as a number where a number holds it exactly. */
function plain(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/** Rounds half away from zero, as a cast from a float to an integer does. */
export function toInt(value: Value): number | bigint | null {
  const found = number(value);
  if (found === null || typeof found === 'bigint') return found;
  const whole = Math.sign(found) * Math.round(Math.abs(found));
  return whole === 0 ? 0 : whole;
}

/** CAST to STRING. */
export function castText(value: Value, timestampText: (micros: number) => string): string | null {
  if (isTimestamp(value)) return timestampText(value.timestamp);
  if (isDatetime(value)) return toJson(value);
  return text(value);
}
