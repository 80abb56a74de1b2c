import type { Context } from './context.ts';
import { as, WrongType } from './convert.ts';
import type { Expression } from './parse/tree.ts';
import { microsOf, writeAdded } from './time-function.ts';
import type { Type, Value } from './value.ts';

/** INTERVAL. `micros` is given if it is constant, and always as long. */
function readInterval(expression: Expression, { translate }: Context) {
  if (expression.kind !== 'interval') throw new WrongType('has no INTERVAL such as INTERVAL 1 HOUR there');
  const { part } = expression;
  const count = translate(expression.count);
  const sql = count.text !== undefined && /^-?\d{1,9}$/.test(count.text) ? count.text : as(count, 'int64');
  const number = /^\(?-?\d{1,9}\)?$/.test(sql) ? Number(sql.replace(/[()]/g, '')) : undefined;
  const isFixed = !/^(?:week|month|quarter|year)$/.test(part);
  const micros = number === undefined || !isFixed ? undefined : number * microsOf(part);
  return { part, count: sql, micros };
}

// Times of the engine; the last is the largest number of microseconds that a double holds exactly.
const INSTANT_MIN = Date.UTC(1900, 0) * 1000;
const INSTANT_MAX = Number.MAX_SAFE_INTEGER;

/** A time and an INTERVAL before or after it. */
export function addInterval(
  time: Value,
  interval: Expression,
  {
    type,
    sign,
    context,
  }: { readonly type: Type; readonly sign: 'add' | 'subtract'; readonly context: Context },
): Value {
  const wanted = type === 'datetime' ? 'datetime' : 'timestamp';
  const { part, count, micros } = readInterval(interval, context);
  const sql = writeAdded(sign, as(time, wanted), { part, count });
  const { instant } = time;
  if (instant === undefined || micros === undefined) return { type: wanted, sql };
  const moved = sign === 'add' ? instant + micros : instant - micros;
  if (moved < INSTANT_MIN || moved > INSTANT_MAX)
    throw new WrongType('has an INTERVAL that leads beyond the years 1900 to 2255');
  return { type: wanted, sql, instant: moved };
}
