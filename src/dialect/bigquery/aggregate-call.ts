import { AGGREGATES } from './aggregate.ts';
import type { Context } from './context.ts';
import { WrongType } from './convert.ts';
import { isNode, type Node } from './parse/tree.ts';
import type { Value } from './value.ts';

/** An aggregate function that the parser knows as one. */
export function translateAggregate(node: Node, context: Context): Value {
  const { reader, translateRow } = context;
  const name =
    reader.word(node, 'type') === 'any_value' ? 'any_value' : (reader.word(node, 'name') ?? '').toLowerCase();
  requireKnown(name);
  const args = reader.must(node, 'args');
  const isDistinct = reader.take(args, 'distinct') !== undefined;
  const argument = reader.must(args, 'expr');
  const value = reader.word(argument, 'type') === 'star' ? undefined : translateRow(argument);
  if (value === undefined) reader.take(argument, 'value');
  return aggregate(name, { value, isDistinct, over: writeOver(name, node, context) });
}

interface Arguments {
  /** `undefined` for `*`. */
  readonly value: Value | undefined;
  readonly isDistinct: boolean;
  /** The OVER of a window function, or nothing. */
  readonly over: string;
}

/** @throws WrongType for a function that is not known */
export function aggregate(name: string, { value, isDistinct, over }: Arguments): Value {
  if (name === 'count') {
    if (value === undefined) return { type: 'int64', sql: `toInt64(count()${over})` };
    const counted = isDistinct ? `uniqExact(${value.json?.text ?? value.sql})` : `count(${value.sql})`;
    return { type: 'int64', sql: `toInt64(${counted}${over})` };
  }
  const write = requireKnown(name);
  if (write === undefined || value === undefined) throw new WrongType(`calls ${name} without a value`);
  if (isDistinct && name !== 'min' && name !== 'max')
    throw new WrongType(`has DISTINCT in ${name}, which is not understood`);
  return write(value);
}

/** `undefined` for COUNT. */
function requireKnown(name: string) {
  const write = Object.hasOwn(AGGREGATES, name) ? AGGREGATES[name] : undefined;
  if (write !== undefined || name === 'count') return write;
  const known = Object.keys(AGGREGATES).join(', ');
  throw new WrongType(`calls ${name}, which is not understood; known are count, ${known}`);
}

/** OVER (). @throws WrongType for a window, or another function than COUNT */
export function writeOver(name: string, node: Node, { reader }: Context): string {
  const window = reader.node(node, 'over');
  if (window === undefined) return '';
  reader.word(window, 'type');
  const specification = reader.take(window, 'as_window_specification');
  if (!isNode(specification))
    throw new WrongType('has OVER with a name, that of a WINDOW, which is not understood');
  const inner = reader.must(specification, 'window_specification');
  if (reader.nodes(inner, 'partitionby').length > 0)
    throw new WrongType('has PARTITION BY, which is not understood');
  if (reader.nodes(inner, 'orderby').length > 0)
    throw new WrongType('has OVER (ORDER BY …), which is not understood');
  if (name !== 'count')
    throw new WrongType(`has OVER after ${name}, which is not understood; known is count(*) over ()`);
  return ' OVER ()';
}
