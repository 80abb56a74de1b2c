import { quote } from '../../sql/quote.ts';
import { as, isJson, isNumber, isTime, nameOf, type Wanted, WrongType } from './convert.ts';
import type { Value } from './value.ts';

const COMPARISONS: ReadonlySet<string> = new Set(['=', '!=', '<>', '<', '>', '<=', '>=']);

const bool = (sql: string): Value => ({ type: 'bool', sql });

/** An operator between two values. @throws WrongType if BigQuery has none for them, or it is not known */
export function operate(operator: string, left: Value, right: Value): Value {
  if (operator === 'AND' || operator === 'OR')
    return bool(`(${as(left, 'bool')} ${operator} ${as(right, 'bool')})`);
  if (COMPARISONS.has(operator)) return bool(compare(operator, left, right));
  if (operator === 'LIKE' || operator === 'NOT LIKE') return like(operator, left, right);
  if (operator === '||')
    return { type: 'string', sql: `concat(${as(left, 'string')}, ${as(right, 'string')})` };
  if (operator === '/') return { type: 'float64', sql: divide(left, right) };
  if (operator === '+' || operator === '-' || operator === '*') {
    const type = left.type === 'int64' && right.type === 'int64' ? 'int64' : 'float64';
    return { type, sql: `(${as(left, type)} ${operator} ${as(right, type)})` };
  }
  throw new WrongType(`has the operator ${operator}, which is not understood`);
}

function like(operator: string, left: Value, { text }: Value): Value {
  if (text === undefined) throw new WrongType('has LIKE without a text in quotes after it');
  return bool(`(${as(left, 'string')} ${operator} ${quote(text)})`);
}

/** Fails for a zero, as in BigQuery; the engine would give an infinite number. */
function divide(left: Value, right: Value): string {
  const [a, b] = [as(left, 'float64'), as(right, 'float64')];
  if (/^toFloat64\(\d*[1-9]\d*\)$/.test(b)) return `(${a} / ${b})`;
  return `(${a} / ${b} * intDiv(1, toUInt8(${b} != 0)))`;
}

/** @throws WrongType if the values have no type in common */
export function compare(operator: string, left: Value, right: Value): string {
  const type = commonOf(left, right, operator);
  return `(${as(left, type)} ${operator === '<>' ? '!=' : operator} ${as(right, type)})`;
}

/** The type by which two values are compared. JSON is read as the other value's type. */
export function commonOf(left: Value, right: Value, operator = '='): Wanted {
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

function wantedOf({ type, sql }: Value): Wanted {
  if (type === 'int64') return /^\d+$/.test(sql) && BigInt(sql) >= EXACT_MAX ? 'int64' : 'number';
  if (type === 'float64') return 'number';
  return type === 'json' || type === 'record' || type === 'null' ? 'string' : type;
}

/** IS and IS NOT. */
export function is(value: Value, what: 'null' | boolean, isNot: boolean): Value {
  const sql =
    what === 'null' ? `isNull(${value.sql})` : `ifNull(${what ? '' : 'NOT '}${as(value, 'bool')}, false)`;
  return bool(isNot ? `(NOT ${sql})` : sql);
}
