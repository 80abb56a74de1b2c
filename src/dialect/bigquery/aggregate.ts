import { as, isJson, isTime, jsonValue, type Value, WrongType } from './value.ts';

/** An aggregate function of one argument. @throws WrongType for an argument of another type */
type Aggregate = (value: Value) => Value;

const ofSame =
  (name: string): Aggregate =>
  (value) => {
    const sql = `${name}(${value.sql})`;
    return isJson(value) ? jsonValue(`ifNull(${sql}, '')`) : { type: value.type, sql };
  };

/** The first and last of JSON values are those of ORDER BY: numbers, then other texts. */
const extreme =
  (name: 'min' | 'max'): Aggregate =>
  (value) => {
    const { json, sql, type } = value;
    if (json === undefined) return { type, sql: `${name}OrNull(${sql})` };
    const order = `tuple(isNull(${json.number}), ifNull(${json.number}, 0), ifNull(${json.text}, ''))`;
    return jsonValue(`ifNull(arg${name === 'min' ? 'Min' : 'Max'}OrNull(${sql}, ${order}), '')`);
  };

const float =
  (name: string): Aggregate =>
  (value) => ({ type: 'float64', sql: `${name}(${as(value, 'float64')})` });

/** Every aggregate function of one argument besides COUNT, by name in lower case. */
export const AGGREGATES: Readonly<Record<string, Aggregate>> = {
  sum: (value) => {
    const type = value.type === 'int64' ? 'int64' : 'float64';
    return { type, sql: `sumOrNull(${as(value, type)})` };
  },
  avg: float('avgOrNull'),
  min: extreme('min'),
  max: extreme('max'),
  any_value: ofSame('any'),
  countif: (value) => ({ type: 'int64', sql: `toInt64(countIf(${as(value, 'bool')}))` }),
  approx_count_distinct: (value) => ({
    type: 'int64',
    sql: `toInt64(uniqExact(${value.json?.text ?? value.sql}))`,
  }),
  logical_and: (value) => ({ type: 'bool', sql: `(minOrNull(${as(value, 'bool')}) = 1)` }),
  logical_or: (value) => ({ type: 'bool', sql: `(maxOrNull(${as(value, 'bool')}) = 1)` }),
};

interface Arguments {
  /** `undefined` for `*`. */
  readonly value: Value | undefined;
  readonly isDistinct: boolean;
  /** The OVER of a window function, or nothing. */
  readonly over: string;
}

/** A call of COUNT or of another aggregate function. @throws WrongType for one without a value, or DISTINCT in others */
export function aggregate(name: string, { value, isDistinct, over }: Arguments): Value {
  if (name === 'count') {
    if (value === undefined) return { type: 'int64', sql: `toInt64(count()${over})` };
    const counted = isDistinct ? `uniqExact(${value.json?.text ?? value.sql})` : `count(${value.sql})`;
    return { type: 'int64', sql: `toInt64(${counted}${over})` };
  }
  const write = Object.hasOwn(AGGREGATES, name) ? AGGREGATES[name] : undefined;
  if (write === undefined || value === undefined) throw new WrongType(`calls ${name} without a value`);
  if (isDistinct && name !== 'min' && name !== 'max')
    throw new WrongType(`has DISTINCT in ${name}, which is not understood`);
  return write(value);
}

const PARTS_MAX = 100_000;
// Each is a number in the SQL of an array.
const ARRAY_PARTS_MAX = 100;

/** `approx_quantiles(x, parts)[offset(k)]`: an exact quantile. @throws WrongType for a place beyond the parts */
export function writeQuantile(value: Value, parts: number, place: number): Value {
  requireParts(parts, PARTS_MAX);
  requirePlace(parts, place);
  const { type, sql } = toQuantified(value);
  return { type, sql: `quantileExactOrNull(${place / parts})(${sql})` };
}

/** `approx_quantiles(x, parts)`: an array of exact quantiles, empty instead of NULL for a group without values. */
export function writeQuantiles(value: Value, parts: number): Value {
  requireParts(parts, ARRAY_PARTS_MAX);
  const { type, sql } = toQuantified(value);
  return {
    type: 'array',
    sql: `if(count(${sql}) = 0, [], quantilesExact(${writeLevels(parts)})(${sql}))`,
    members: { type, parts },
  };
}

/** The levels of each number of parts: writing numbers takes longer than all else of a translation. */
const LEVELS = new Map<number, string>();

function writeLevels(parts: number): string {
  const levels =
    LEVELS.get(parts) ?? Array.from({ length: parts + 1 }, (_, place) => place / parts).join(', ');
  LEVELS.set(parts, levels);
  return levels;
}

/** A member of an array of `writeQuantiles`. @throws WrongType for a place beyond the parts */
export function writeMember({ sql, members }: Value, place: number): Value {
  if (members === undefined) throw new WrongType('has […] after what is not an array');
  requirePlace(members.parts, place);
  return { type: members.type, sql: `if(empty(${sql}), NULL, arrayElement(${sql}, ${place + 1}))` };
}

function requireParts(parts: number, max: number): void {
  if (!Number.isInteger(parts) || parts < 1 || parts > max)
    throw new WrongType(`has approx_quantiles with a number other than 1 to ${max}`);
}

function requirePlace(parts: number, place: number): void {
  if (!Number.isInteger(place) || place < 0 || place > parts)
    throw new WrongType(`has an offset beyond the ${parts + 1} members of approx_quantiles`);
}

/** Times and integers as they are, other values as floats. */
function toQuantified(value: Value): Value {
  if (isTime(value)) return value;
  const type = value.type === 'int64' ? 'int64' : 'float64';
  return { type, sql: as(value, type) };
}
