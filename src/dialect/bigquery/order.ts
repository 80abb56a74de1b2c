import { toValue } from './choice.ts';
import type { Context } from './context.ts';
import type { Node, Reader } from './parse/tree.ts';
import type { Type, Value } from './value.ts';

/** The ORDER BY and LIMIT of a SELECT. @param values of the SELECT's list, by place */
export function writeTail(node: Node, values: readonly Value[], context: Context): string {
  const { reader } = context;
  const terms = reader.nodes(node, 'orderby').map((item) => {
    const expression = reader.must(item, 'expr');
    const isDescending = (reader.word(item, 'type') ?? 'ASC') === 'DESC';
    return writeTerm(readPlaced(expression, values, context) ?? context.translate(expression), isDescending);
  });
  const order = terms.length === 0 ? '' : ` ORDER BY ${terms.join(', ')}`;
  return order + writeLimit(node, reader);
}

/** A column by its place, such as 1; `undefined` for other expressions. */
export function readPlaced(node: Node, values: readonly Value[], { reader }: Context): Value | undefined {
  if (reader.word(node, 'type') !== 'number') return undefined;
  const { value: place } = reader.literal(node);
  const value = /^\d{1,4}$/.test(place) ? values[Number(place) - 1] : undefined;
  if (value !== undefined) return value;
  throw reader.refuse(`names column ${place} by its place; there are ${values.length}`, node);
}

/** NULL is before all other values. JSON is in the order of its numbers, then of its other texts. */
function writeTerm(value: Value, isDescending: boolean): string {
  const [way, nulls] = isDescending ? ['DESC', 'NULLS LAST'] : ['ASC', 'NULLS FIRST'];
  const { json, sql } = value;
  if (json === undefined) return `${notPlace(sql)} ${way} ${nulls}`;
  const other = isDescending ? 'ASC' : 'DESC';
  return `isNull(${sql}) ${other}, isNull(${json.number}) ${way}, ${json.number} ${way}, ${json.text} ${way}`;
}

/** The engine takes a whole number in ORDER BY or GROUP BY for the place of a column; here it is a value. */
export function notPlace(sql: string): string {
  return /^\(?-?\d+\)?$/.test(sql) ? `toInt64(${sql})` : sql;
}

function writeLimit(node: Node, reader: Reader): string {
  const limit = reader.node(node, 'limit');
  if (limit === undefined) return '';
  const separator = reader.word(limit, 'seperator') ?? ''; // as the parser spells it
  const counts = reader.nodes(limit, 'value').map((count) => {
    if (reader.word(count, 'type') === 'number') return BigInt(readCount(count, reader));
    throw reader.refuse('has a LIMIT other than a number', count);
  });
  const [rows, skipped] = counts;
  if (rows === undefined || (skipped !== undefined && separator !== 'offset'))
    throw reader.refuse('has a LIMIT that is not understood', limit);
  return ` LIMIT ${rows}${skipped === undefined ? '' : ` OFFSET ${skipped}`}`;
}

function readCount(node: Node, reader: Reader): string {
  const { value } = reader.literal(node);
  if (/^\d{1,15}$/.test(value)) return value;
  throw reader.refuse('has a LIMIT other than a whole number', node);
}

/** The columns of a SELECT in brackets, by place. */
export function outputValues(columns: readonly { readonly type: Type }[]): readonly Value[] {
  return columns.map(({ type }, i) => {
    return { ...toValue(type, `c${i}`), type };
  });
}
