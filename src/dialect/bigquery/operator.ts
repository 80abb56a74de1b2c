import { writeValue } from '../../sql/quote.ts';
import { as, isJson, isNumber, isTime, nameOf, type TargetType, WrongType } from './convert.ts';
import type { Value } from './value.ts';

const bool = (sql: string): Value => ({ type: 'bool', sql });

/** `a AND b AND c`, or the same with OR. */
export function chain(operator: 'AND' | 'OR', values: readonly Value[]): Value {
  return bool(`(${values.map((value) => as(value, 'bool')).join(` ${operator} `)})`);
}

/** @throws WrongType for a pattern that is not a text in quotes */
export function like(left: Value, { text }: Value): Value {
  if (text === undefined) throw new WrongType('has LIKE without a string in quotes after it');
  return bool(`(${as(left, 'string')} LIKE ${writeValue(text)})`);
}

/** A quotient of two floats. Fails for a zero, as in BigQuery; the engine would give an infinite number. */
export function divide(a: string, b: string): string {
  if (/^toFloat64\(\d*[1-9]\d*\)$/.test(b)) return `${a} / ${b}`;
  return `${a} / ${b} * intDiv(1, toUInt8(${b} != 0))`;
}

/** @throws WrongType if the values have no type in common */
export function compare(operator: string, left: Value, right: Value): string {
  const type = commonOf(left, right, operator);
  return `(${as(left, type)} ${operator === '<>' ? '!=' : operator} ${as(right, type)})`;
}

/** The type by which two values are compared. JSON is read as the other value's type. */
export function commonOf(left: Value, right: Value, operator = '='): TargetType {
  if (isJson(left) && isJson(right)) {
    if (operator === '=' || operator === '!=' || operator === '<>') return 'string';
    throw new WrongType(`compares two fields of the metadata by ${operator}; cast one of them`);
  }
  if (isReadAs(left, right)) return wantedOf(right);
  if (isReadAs(right, left) || left.type === right.type) return wantedOf(left);
  if (isNumber(left) && isNumber(right)) return 'number';
  throw new WrongType(`compares a ${nameOf(left)} with a ${nameOf(right)}; cast one of them`);
}

/** Whether a value is read as another's type. */
function isReadAs(value: Value, other: Value): boolean {
  return isJson(value) || value.type === 'null' || (value.text !== undefined && isTime(other));
}

// A larger integer and its neighbour are the same as floats.
const EXACT_MAX = 2n ** 53n;

function wantedOf({ type, sql }: Value): TargetType {
  if (type === 'int64') return /^\d+$/.test(sql) && BigInt(sql) >= EXACT_MAX ? 'int64' : 'number';
  if (type === 'float64') return 'number';
  return type === 'json' || type === 'record' || type === 'null' || type === 'array' ? 'string' : type;
}

/** IS and IS NOT. */
export function is(value: Value, what: 'null' | boolean, isNot: boolean): Value {
  const sql =
    what === 'null' ? `isNull(${value.sql})` : `ifNull(${what ? '' : 'NOT '}${as(value, 'bool')}, false)`;
  return bool(isNot ? `(NOT ${sql})` : sql);
}
