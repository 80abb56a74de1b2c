import { as, isJson, isTime, WrongType } from './convert.ts';
import { jsonValue, type Value } from './value.ts';

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

/** Every aggregate function of one argument, by name in lower case. COUNT is in expression.ts. */
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

const PARTS_MAX = 100_000;

/** `approx_quantiles(x, parts)[offset(k)]`: an exact quantile. @throws WrongType for a place beyond the parts */
export function writeQuantile(value: Value, parts: number, place: number): Value {
  if (!Number.isInteger(parts) || parts < 1 || parts > PARTS_MAX)
    throw new WrongType(`has approx_quantiles with a number other than 1 to ${PARTS_MAX}`);
  if (!Number.isInteger(place) || place < 0 || place > parts)
    throw new WrongType(`has an offset beyond the ${parts + 1} members of approx_quantiles`);
  if (isTime(value)) return { type: value.type, sql: `quantileExactOrNull(${place / parts})(${value.sql})` };
  const type = value.type === 'int64' ? 'int64' : 'float64';
  return { type, sql: `quantileExactOrNull(${place / parts})(${as(value, type)})` };
}
