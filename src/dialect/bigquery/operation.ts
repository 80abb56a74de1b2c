import type { Context } from './context.ts';
import { as, WrongType } from './convert.ts';
import { addInterval } from './interval.ts';
import { divide } from './operator.ts';
import type { Expression } from './parse/tree.ts';
import type { Value } from './value.ts';

/** A value so far, and its SQL without brackets, so that a long chain is not nested as deep as it is long. */
interface Partial {
  readonly value: Value;
  readonly bare: string | undefined;
}

// The engine writes each operation in brackets, of which the sandbox allows 64 levels.
const OPERATORS_MAX = 48;

/** Translates a chain of + and -, or of * / and ||, from the left. @throws WrongType if BigQuery has no operator for the types */
export function translateOperation(
  { first, rest }: Extract<Expression, { kind: 'operation' }>,
  context: Context,
): Value {
  if (rest.filter(({ operator }) => operator !== '||').length > OPERATORS_MAX)
    throw new WrongType(`must have at most ${OPERATORS_MAX} of + - * / in a row; there is one more`);
  let partial: Partial = { value: context.translate(first), bare: undefined };
  for (const { operator, operand } of rest) {
    partial =
      operand.kind === 'interval' && (operator === '+' || operator === '-')
        ? { value: moveTime(partial.value, operator, operand, context), bare: undefined }
        : operate(partial, operator, context.translate(operand));
  }
  return partial.value;
}

function moveTime(
  time: Value,
  operator: '+' | '-',
  interval: Extract<Expression, { kind: 'interval' }>,
  context: Context,
): Value {
  const type = time.type === 'datetime' ? 'datetime' : 'timestamp';
  return addInterval(time, interval, { type, sign: operator === '+' ? 'add' : 'subtract', context });
}

function operate(left: Partial, operator: '+' | '-' | '*' | '/' | '||', right: Value): Partial {
  if (operator === '||') {
    const bare = `${left.bare !== undefined && left.value.type === 'string' ? left.bare : as(left.value, 'string')}, ${as(right, 'string')}`;
    return { value: { type: 'string', sql: `concat(${bare})` }, bare };
  }
  const isWhole = operator !== '/' && left.value.type === 'int64' && right.type === 'int64';
  const type = isWhole ? 'int64' : 'float64';
  const before = left.bare !== undefined && left.value.type === type ? left.bare : as(left.value, type);
  const bare =
    operator === '/' ? divide(before, as(right, type)) : `${before} ${operator} ${as(right, type)}`;
  return { value: { type, sql: `(${bare})` }, bare };
}
