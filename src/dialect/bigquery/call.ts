import { writeValue } from '../../sql/quote.ts';
import { AGGREGATES, aggregate, writeQuantiles } from './aggregate.ts';
import { cast } from './cast.ts';
import { CHOICES } from './choice.ts';
import type { Context } from './context.ts';
import { as, type BigQueryFunction, type TargetType, WrongType } from './convert.ts';
import { FUNCTIONS } from './function.ts';
import { addInterval } from './interval.ts';
import { JSON_FUNCTIONS, translateJson } from './json-function.ts';
import type { CallForm, Expression } from './parse/tree.ts';
import { readPattern } from './regexp.ts';
import type { Value } from './value.ts';

/** Functions that cast their argument. */
const CASTS: ReadonlySet<string> = new Set(['timestamp', 'datetime', 'date', 'string']);

/** A call of a function. @throws WrongType for one that is not known */
export function translateCall(call: CallForm, context: Context): Value {
  const { name } = call;
  if (call.isOfRows && name !== 'count')
    throw new WrongType(`calls ${name} with *, which is not understood; known is count(*)`);
  if (name === 'count' || Object.hasOwn(AGGREGATES, name)) return translateAggregate(call, context);
  if (call.isDistinct) throw new WrongType(`has DISTINCT in ${name}, which is not understood`);
  if (call.isOver)
    throw new WrongType(`has OVER after ${name}, which is not understood; known is count(*) over ()`);
  return translatePlain(call, context);
}

function translateAggregate({ name, args, isDistinct, isOfRows, isOver }: CallForm, context: Context): Value {
  requireCount(name, args.length, isOfRows ? { min: 0, max: 0 } : { min: 1, max: 1 });
  const [first] = args;
  if (isOver && name !== 'count')
    throw new WrongType(`has OVER after ${name}, which is not understood; known is count(*) over ()`);
  const value = first === undefined ? undefined : context.translateRow(first);
  return aggregate(name, { value, isDistinct, over: isOver ? ' OVER ()' : '' });
}

function translatePlain({ name, args }: CallForm, context: Context): Value {
  const { translate } = context;
  const choice = Object.hasOwn(CHOICES, name) ? CHOICES[name] : undefined;
  if (choice !== undefined) {
    requireCount(name, args.length, choice);
    return choice.choose(args.map(translate));
  }
  const [first, second] = args;
  if (first !== undefined && CASTS.has(name)) {
    requireCount(name, args.length, { min: 1, max: 1 });
    return cast(translate(first), name, false);
  }
  const ofJson = Object.hasOwn(JSON_FUNCTIONS, name) ? JSON_FUNCTIONS[name] : undefined;
  if (ofJson !== undefined && first !== undefined) {
    requireCount(name, args.length, { min: 1, max: 2 });
    return translateJson(ofJson, { first, second }, context);
  }
  if (name === 'approx_quantiles' && first !== undefined && second !== undefined) {
    requireCount(name, args.length, { min: 2, max: 2 });
    return writeQuantiles(context.translateRow(first), Number(translate(second).sql));
  }
  const known = FUNCTIONS.get(name);
  if (known === undefined)
    throw new WrongType(
      `calls ${name}, which is not understood; docs/supabase.md#bigquerys-sql lists what is`,
    );
  return callKnown(name, known, { args, context });
}

function requireCount(name: string, count: number, { min, max }: { min: number; max: number }): void {
  if (count >= min && count <= max) return;
  const wanted = min === max ? String(min) : `${min} to ${max}`;
  throw new WrongType(`calls ${name} with ${count} arguments; it takes ${wanted}`);
}

function callKnown(
  name: string,
  { args: wanted, optional = 0, isVariadic = false, type, write }: BigQueryFunction,
  { args, context }: { readonly args: readonly Expression[]; readonly context: Context },
): Value {
  const max = isVariadic ? 50 : wanted.length;
  requireCount(name, args.length, { min: wanted.length - optional, max });
  if (/^current_(?:timestamp|datetime)$/.test(name)) return { type, sql: write(), instant: context.now };
  const [time, interval] = args;
  if (wanted[1] === 'interval' && time !== undefined && interval !== undefined) {
    const value = context.translate(time);
    const sign = name.endsWith('_sub') ? 'subtract' : 'add';
    return addInterval(value, interval, { type, sign, context });
  }
  const sqls = args.map((arg, i) => {
    const kind = wanted[Math.min(i, wanted.length - 1)] ?? 'string';
    return kind === 'part' ? readPart(arg) : writeArgument(name, kind, context.translate(arg));
  });
  const written = sqls.filter((sql) => sql !== undefined);
  return { type, sql: written.length < sqls.length ? 'NULL' : write(...written) };
}

/** @returns `undefined` for NULL instead of a constant: then the call returns NULL */
function writeArgument(
  name: string,
  kind: BigQueryFunction['args'][number],
  value: Value,
): string | undefined {
  const { type, text, sql } = value;
  if (type === 'null' && (kind === 'count' || kind === 'text' || kind === 'pattern')) return undefined;
  if (kind === 'count') {
    if (/^\d{1,9}$/.test(sql)) return sql;
    throw new WrongType(`calls ${name} without a whole number where one belongs`);
  }
  if (kind !== 'text' && kind !== 'pattern') return as(value, kind as TargetType); // the others have been read
  if (text === undefined) throw new WrongType(`calls ${name} without a string in quotes where one belongs`);
  return kind === 'pattern' ? readPattern(text) : writeValue(text);
}

/** A word such as HOUR instead of a value, in lower case; `week(monday)` is `isoweek`. */
function readPart(expression: Expression): string {
  if (expression.kind === 'name' && expression.names.length === 1)
    return String(expression.names[0]).toLowerCase();
  if (expression.kind === 'call' && expression.name === 'week') {
    const [day] = expression.args;
    if (day !== undefined && readPart(day) === 'monday') return 'isoweek';
  }
  throw new WrongType('has no word such as HOUR where one belongs');
}
