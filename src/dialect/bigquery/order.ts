import { toValue } from './choice.ts';
import type { Context } from './context.ts';
import type { Expression, OrderTerm, Tail } from './parse/tree.ts';
import type { Type, Value } from './value.ts';

/** The ORDER BY and LIMIT of a SELECT. @param values of the SELECT's list, by place */
export function writeTail({ orderBy, limit }: Tail, values: readonly Value[], context: Context): string {
  const terms = orderBy.map((term) => {
    const { expression } = term;
    return writeTerm(readPlaced(expression, values, context) ?? context.translate(expression), term);
  });
  const order = terms.length === 0 ? '' : ` ORDER BY ${terms.join(', ')}`;
  if (limit === undefined) return order;
  return `${order} LIMIT ${limit.rows}${limit.offset === undefined ? '' : ` OFFSET ${limit.offset}`}`;
}

/** A column by its place, such as 1; `undefined` for other expressions. */
export function readPlaced(
  expression: Expression,
  values: readonly Value[],
  { fail }: Context,
): Value | undefined {
  if (expression.kind !== 'number') return undefined;
  const { digits } = expression;
  const value = /^\d{1,4}$/.test(digits) ? values[Number(digits) - 1] : undefined;
  if (value !== undefined && value.type !== 'array') return value;
  if (value !== undefined) throw fail(`orders or groups by column ${digits}, which is an array`, expression);
  throw fail(`names column ${digits} by its place; there are ${values.length}`, expression);
}

/** NULL is before all other values unless the term says otherwise. JSON is in the order of its numbers, then of its other texts. */
function writeTerm(
  value: Value,
  { isDescending, nulls = isDescending ? 'LAST' : 'FIRST' }: OrderTerm,
): string {
  const { json, sql } = value;
  const way = isDescending ? 'DESC' : 'ASC';
  if (json === undefined) return `${notPlace(sql)} ${way} NULLS ${nulls}`;
  const place = nulls === 'LAST' ? 'ASC' : 'DESC';
  return `isNull(${sql}) ${place}, isNull(${json.number}) ${way}, ${json.number} ${way}, ${json.text} ${way}`;
}

/** The engine takes a whole number in ORDER BY or GROUP BY for the place of a column; here it is a value. */
export function notPlace(sql: string): string {
  return /^\(?-?\d+\)?$/.test(sql) ? `toInt64(${sql})` : sql;
}

/** The columns of a SELECT in brackets, by place. */
export function outputValues(columns: readonly { readonly type: Type }[]): readonly Value[] {
  return columns.map(({ type }, i) => {
    return { ...toValue(type, `c${i}`), type };
  });
}
