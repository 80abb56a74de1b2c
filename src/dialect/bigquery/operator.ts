import { as, isJson, isNumber, isTime, nameOf, type TargetType, type Value, WrongType } from './value.ts';

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
