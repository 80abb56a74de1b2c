import { writeValue } from '../../sql/quote.ts';
import { AGGREGATES, aggregate, writeMember, writeQuantile, writeQuantiles } from './aggregate.ts';
import { cast, FUNCTIONS, readPattern } from './function.ts';
import { compare } from './operator.ts';
import type { CallForm, CaseForm, Expression } from './parse/tree.ts';
import { firstOf, type Step, writeSteps } from './relation.ts';
import { type Context, findName } from './scope.ts';
import { addInterval } from './time-function.ts';
import {
  as,
  type BigQueryFunction,
  jsonValue,
  type TargetType,
  type Type,
  unify,
  type Value,
  WrongType,
} from './value.ts';

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

/** A value of a type that an expression has found; JSON as its text. */
export function toValue(type: Type, sql: string): Value {
  return type === 'json' || type === 'record' ? jsonValue(`ifNull(${sql}, '')`) : { type, sql };
}

/** Values of which one is taken, all as one type. @throws WrongType if they have none */
function chooseBetween(values: readonly Value[], write: (sqls: readonly string[]) => string): Value {
  const { type, sqls } = unify(values);
  return toValue(type, write(sqls));
}

/** CASE, with or without a value after it. */
export function translateCase({ subject, branches, otherwise }: CaseForm, { translate }: Context): Value {
  const value = subject === undefined ? undefined : translate(subject);
  const results: Value[] = [];
  const tests = branches.map(({ test, result }) => {
    results.push(translate(result));
    const tested = translate(test);
    return value === undefined ? as(tested, 'bool') : compare('=', value, tested);
  });
  const last: Value = otherwise === undefined ? { type: 'null', sql: 'NULL' } : translate(otherwise);
  return chooseBetween([...results, last], (sqls) => {
    const written = tests.map((test, i) => `${test}, ${sqls[i]}`);
    return `multiIf(${written.join(', ')}, ${sqls.at(-1)})`;
  });
}

/** Functions that take one of their arguments, by name in lower case, with the least and most arguments. */
export const CHOICES: Readonly<
  Record<
    string,
    { readonly min: number; readonly max: number; readonly choose: (values: readonly Value[]) => Value }
  >
> = {
  if: { min: 3, max: 3, choose: chooseIf },
  ifnull: {
    min: 2,
    max: 2,
    choose: (values) => chooseBetween(values, (sqls) => `coalesce(${sqls.join(', ')})`),
  },
  coalesce: {
    min: 1,
    max: 50,
    choose: (values) => chooseBetween(values, (sqls) => `coalesce(${sqls.join(', ')})`),
  },
  nullif: { min: 2, max: 2, choose: chooseUnequal },
  greatest: { min: 1, max: 50, choose: (values) => chooseExtreme('greatest', values) },
  least: { min: 1, max: 50, choose: (values) => chooseExtreme('least', values) },
};

function chooseIf([condition, ...values]: readonly Value[]): Value {
  const test = condition === undefined ? 'NULL' : as(condition, 'bool');
  return chooseBetween(values, (sqls) => `if(${[test, ...sqls].join(', ')})`);
}

function chooseUnequal([value, other]: readonly Value[]): Value {
  if (value === undefined || other === undefined) throw new WrongType('has NULLIF without two values');
  return toValue(value.type, `if(ifNull(${compare('=', value, other)}, false), NULL, ${value.sql})`);
}

/** NULL if one of the values is: the engine would leave it out. */
function chooseExtreme(name: string, values: readonly Value[]): Value {
  if (unify(values).type === 'json')
    throw new WrongType(`has ${name.toUpperCase()} of only fields of the metadata; cast one of them`);
  return chooseBetween(values, (sqls) => {
    const nulls = sqls.map((sql) => `isNull(${sql})`).join(' OR ');
    return `if(${nulls}, NULL, ${name}(${sqls.join(', ')}))`;
  });
}

/**
 * `approx_quantiles(x, n)[offset(k)]`, or the member of such an array.
 *
 * @throws WrongType for the member of any other list
 */
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
      `has […] ${accessor === '' ? 'without OFFSET' : `with ${accessor.toUpperCase()}, which is not understood`}; ` +
        'write [OFFSET(50)]',
    );
  const number = /^\d+$/.test(place.sql) ? Number(place.sql) : Number.NaN;
  if (array !== undefined) return writeMember(array, number);
  const [value, parts] = isCall ? list.args : [];
  if (value === undefined || parts === undefined)
    throw new WrongType('calls approx_quantiles without two arguments');
  return writeQuantile(translateRow(value), Number(translate(parts).sql), number);
}

/** Functions of a JSON value and a path in it. `isScalar`: NULL for objects and lists, and a text without its quotes. */
export const JSON_FUNCTIONS: Readonly<Record<string, { readonly isScalar: boolean }>> = {
  json_value: { isScalar: true },
  json_extract_scalar: { isScalar: true },
  json_query: { isScalar: false },
  json_extract: { isScalar: false },
  to_json_string: { isScalar: false },
};

/** The text of what is at a path. @throws WrongType */
function translateJson(
  { isScalar }: { readonly isScalar: boolean },
  { first, second }: { readonly first: Expression; readonly second: Expression | undefined },
  context: Context,
): Value {
  const path = second === undefined ? '$' : context.translate(second).text;
  if (path === undefined) throw new WrongType(`has no path in quotes, such as '$.status', where one belongs`);
  const { sql, json } = valueAt(first, readJsonPath(path), context);
  return { type: 'string', sql: isScalar && json !== undefined ? json.text : sql };
}

/** Below a record a typed column may have the value. A text, also one in the metadata, is read as JSON. */
function valueAt(expression: Expression, steps: readonly Step[], { scope, translate }: Context): Value {
  if (expression.kind === 'name') {
    const found = findName(expression.names, scope);
    const isRecord = typeof found === 'object' && 'origin' in found && found.steps.length === 0;
    if (isRecord && scope.grouped.size === 0) return found.origin.relation.value(found.origin, steps);
  }
  const value = translate(expression);
  const { json } = value;
  const text = json === undefined ? as(value, 'string') : `coalesce(${json.text}, ${value.sql})`;
  return jsonValue(firstOf([writeSteps(`ifNull(${text}, '')`, steps)]));
}

const STEP = /\.([A-Za-z_][\w-]*)|\."([^"]+)"|\[(\d{1,4})\]|\['([^']+)'\]|\["([^"]+)"\]/y;
// Each makes the SQL twice as long.
const INDEXES_MAX = 3;

/** The steps of a JSONPath such as `$.request.headers[0]."x.y"`. @throws WrongType for any other */
function readJsonPath(text: string): readonly Step[] {
  const steps: Step[] = [];
  const pattern = new RegExp(STEP);
  pattern.lastIndex = 1;
  const wrong = () =>
    new WrongType(
      `has the path ${JSON.stringify(text.slice(0, 60))}; write one such as '$.request.headers[0]'`,
    );
  if (!text.startsWith('$') || /\p{Cc}/u.test(text)) throw wrong();
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text);
    if (match === null) throw wrong();
    const [, name, quoted, index, single, double] = match;
    steps.push(index === undefined ? (name ?? quoted ?? single ?? double ?? '') : Number(index));
  }
  if (steps.filter((step) => typeof step === 'number').length > INDEXES_MAX)
    throw new WrongType(`has a path with more than ${INDEXES_MAX} indexes`);
  return steps;
}
