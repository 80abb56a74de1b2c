import { writeMember, writeQuantile } from './aggregate.ts';
import type { Context } from './context.ts';
import { WrongType } from './convert.ts';
import type { Expression } from './parse/tree.ts';
import type { Value } from './value.ts';

/** `approx_quantiles(x, n)[offset(k)]`, or the member of such an array. @throws WrongType for the member of any other list */
export function translateMember(
  { list, accessor, index }: Extract<Expression, { kind: 'member' }>,
  context: Context,
): Value {
  const { translate, translateRow, translateArray } = context;
  const place = translate(index);
  const isCall = list.kind === 'call' && list.name === 'approx_quantiles' && list.args.length === 2;
  const array = isCall ? undefined : translateArray(list);
  if (!isCall && array?.members === undefined)
    throw new WrongType('has […] after something else than approx_quantiles(x, 100) or a column of such');
  if (accessor !== 'offset')
    throw new WrongType(
      `has […] ${accessor === '' ? 'without OFFSET' : `with ${accessor.toUpperCase()}, which is not understood`}; write [OFFSET(50)]`,
    );
  const number = /^\d+$/.test(place.sql) ? Number(place.sql) : Number.NaN;
  if (array !== undefined) return writeMember(array, number);
  const [value, parts] = isCall ? list.args : [];
  if (value === undefined || parts === undefined)
    throw new WrongType('calls approx_quantiles without two arguments');
  return writeQuantile(translateRow(value), Number(translate(parts).sql), number);
}
