import { AGGREGATES } from './aggregate.ts';
import type { Context } from './context.ts';
import { WrongType } from './convert.ts';
import { isNode, type Node } from './tree.ts';
import type { Value } from './value.ts';

/** An aggregate function that the parser knows as one. */
export function translateAggregate(node: Node, context: Context): Value {
  const { reader, translate } = context;
  const name =
    reader.word(node, 'type') === 'any_value' ? 'any_value' : (reader.word(node, 'name') ?? '').toLowerCase();
  const args = reader.must(node, 'args');
  const isDistinct = reader.take(args, 'distinct') !== undefined;
  const argument = reader.must(args, 'expr');
  const value = reader.word(argument, 'type') === 'star' ? undefined : translate(argument);
  if (value === undefined) reader.take(argument, 'value');
  return aggregate(name, { value, isDistinct, over: writeOver(node, context) });
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
    return { type: 'int64', sql: `toInt64(${isDistinct ? 'uniqExact' : 'count'}(${value.sql})${over})` };
  }
  const write = Object.hasOwn(AGGREGATES, name) ? AGGREGATES[name] : undefined;
  if (write === undefined || value === undefined)
    throw new WrongType(
      `calls ${name}, which is not understood; known are count, ${Object.keys(AGGREGATES).join(', ')}`,
    );
  if (isDistinct && name !== 'min' && name !== 'max')
    throw new WrongType(`has DISTINCT in ${name}, which is not understood`);
  return write(value, over);
}

/** What stands after OVER: brackets without anything, or PARTITION BY. */
export function writeOver(node: Node, { reader, translate }: Context): string {
  const window = reader.node(node, 'over');
  if (window === undefined) return '';
  reader.word(window, 'type');
  const specification = reader.take(window, 'as_window_specification');
  if (!isNode(specification)) throw new WrongType('has OVER with a name, which is not understood');
  const inner = reader.must(specification, 'window_specification');
  const keys = reader.nodes(inner, 'partitionby').flatMap((item) => {
    reader.word(item, 'type');
    const key = translate(reader.must(item, 'expr'));
    return key.keys ?? [key.sql];
  });
  return ` OVER (${keys.length === 0 ? '' : `PARTITION BY ${keys.join(', ')}`})`;
}
