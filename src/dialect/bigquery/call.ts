import { VALUE_FUNCTIONS } from './function.ts';
import { type Expression, type Form, reject } from './parse/tree.ts';
import { firstOf, type Step, writeSteps } from './relation.ts';
import { type Context, findName } from './scope.ts';
import {
  AGGREGATES,
  ARGUMENTS_MAX,
  type BigQueryFunction,
  NULL,
  takes,
  translateCount,
} from './signature.ts';
import { TIME_FUNCTIONS } from './time-function.ts';
import { as, compare, isJson, jsonValue, type Type, unify, type Value } from './value.ts';

/** A call of a function. @throws NotUnderstood for one that is not known */
export function translateCall(call: Form<'call'>, context: Context): Value {
  const { name, args, isOfRows, isDistinct, isOver } = call;
  if (name === 'count') return translateCount(call, context);
  const known = FUNCTIONS.get(name);
  if (known === undefined)
    throw reject(`calls ${name}, which is not understood; docs/supabase.md#bigquerys-sql lists what is`);
  if (isOfRows || isOver)
    throw reject(`calls ${name} with ${isOfRows ? '*' : 'OVER'}; known is count(*) over ()`);
  // The least and the most are the same among distinct values.
  if (isDistinct && name !== 'min' && name !== 'max')
    throw reject(`has DISTINCT in ${name}, which is not understood`);
  const { min, max } = known;
  if (args.length < min || args.length > max) {
    const wanted = min === max ? String(min) : `${min} to ${max}`;
    throw reject(`calls ${name} with ${args.length} arguments; it takes ${wanted}`);
  }
  return known.write(args, context, name);
}

/** A value of a type that an expression has found; JSON as its text. */
export function toValue(type: Type, sql: string): Value {
  return isJson({ type }) ? jsonValue(`ifNull(${sql}, '')`) : { type, sql };
}

/** Values of which one is taken, all as one type. @throws NotUnderstood if they have none */
function chooseBetween(values: readonly Value[], write: (sqls: readonly string[]) => string): Value {
  const { type, sqls } = unify(values);
  return toValue(type, write(sqls));
}

/** CASE, with or without a value after it. */
export function translateCase({ subject, branches, otherwise }: Form<'case'>, { translate }: Context): Value {
  const value = subject === undefined ? undefined : translate(subject);
  const results: Value[] = [];
  const tests = branches.map(({ test, result }) => {
    results.push(translate(result));
    const tested = translate(test);
    return value === undefined ? as(tested, 'bool') : compare('=', value, tested);
  });
  return chooseBetween([...results, translate(otherwise ?? NULL)], (sqls) => {
    const written = tests.map((test, i) => `${test}, ${sqls[i]}`);
    return `multiIf(${written.join(', ')}, ${sqls.at(-1)})`;
  });
}

/** A function that takes one of its arguments. */
const choice = (min: number, max: number, choose: (values: readonly Value[]) => Value) =>
  takes(min, max, (args, { translate }) => choose(args.map(translate)));

const chooseFirst = (values: readonly Value[]) =>
  chooseBetween(values, (sqls) => `coalesce(${sqls.join(', ')})`);

/** NULL if one of the values is: the engine would leave it out. */
const chooseExtreme = (name: 'greatest' | 'least') => (values: readonly Value[]) => {
  if (unify(values).type === 'json')
    throw reject(`has ${name.toUpperCase()} of only fields of the metadata; cast one of them`);
  return chooseBetween(values, (sqls) => {
    const nulls = sqls.map((sql) => `isNull(${sql})`).join(' OR ');
    return `if(${nulls}, NULL, ${name}(${sqls.join(', ')}))`;
  });
};

/** A function of a JSON value and a path in it. A scalar is NULL for objects and lists, and a text without its quotes. */
const atPath = (isScalar: boolean) =>
  takes(1, 2, ([value = NULL, path], context) => {
    const { text } = path === undefined ? { text: '$' } : context.translate(path);
    if (text === undefined) throw reject(`has no path in quotes, such as '$.status', where one belongs`);
    const { sql, json } = valueAt(value, readJsonPath(text), context);
    return { type: 'string', sql: isScalar && json !== undefined ? json('string') : sql };
  });

/** Every function but COUNT, by name in lower case. */
export const FUNCTIONS: ReadonlyMap<string, BigQueryFunction> = new Map(
  Object.entries({
    ...VALUE_FUNCTIONS,
    ...TIME_FUNCTIONS,
    ...AGGREGATES,
    if: takes(3, 3, ([condition = NULL, ...args], { translate }) => {
      const test = as(translate(condition), 'bool');
      return chooseBetween(args.map(translate), (sqls) => `if(${[test, ...sqls].join(', ')})`);
    }),
    ifnull: choice(2, 2, chooseFirst),
    coalesce: choice(1, ARGUMENTS_MAX, chooseFirst),
    nullif: takes(2, 2, ([arg = NULL, other = NULL], { translate }) => {
      const value = translate(arg);
      const isEqual = compare('=', value, translate(other));
      return toValue(value.type, `if(ifNull(${isEqual}, false), NULL, ${value.sql})`);
    }),
    greatest: choice(1, ARGUMENTS_MAX, chooseExtreme('greatest')),
    least: choice(1, ARGUMENTS_MAX, chooseExtreme('least')),
    json_value: atPath(true),
    json_extract_scalar: atPath(true),
    json_query: atPath(false),
    json_extract: atPath(false),
    to_json_string: atPath(false),
  }),
);

/** Below a record a typed column may have the value. A text, also one in the metadata, is read as JSON. */
function valueAt(expression: Expression, steps: readonly Step[], { scope, translate }: Context): Value {
  if (expression.kind === 'name') {
    const found = findName(expression.names, scope);
    const isRecord = found !== undefined && 'origin' in found && found.steps.length === 0;
    if (isRecord && scope.grouped.size === 0) return found.origin.relation.value(found.origin, steps);
  }
  const value = translate(expression);
  const { json } = value;
  const text = json === undefined ? as(value, 'string') : `coalesce(${json('string')}, ${value.sql})`;
  return jsonValue(firstOf([writeSteps(`ifNull(${text}, '')`, steps)]));
}

const STEP = /\.([A-Za-z_][\w-]*)|\."([^"]+)"|\[(\d{1,4})\]|\['([^']+)'\]|\["([^"]+)"\]/gy;
// Each makes the SQL twice as long.
const INDEXES_MAX = 3;

/** The steps of a JSONPath such as `$.request.headers[0]."x.y"`. @throws NotUnderstood for any other */
function readJsonPath(text: string): readonly Step[] {
  const found = [...text.slice(1).matchAll(STEP)];
  if (`$${found.map(([step]) => step).join('')}` !== text || /\p{Cc}/u.test(text))
    throw reject(
      `has the path ${JSON.stringify(text.slice(0, 60))}; write one such as '$.request.headers[0]'`,
    );
  const steps = found.map(([, name, quoted, index, single, double]) =>
    index === undefined ? (name ?? quoted ?? single ?? double ?? '') : Number(index),
  );
  if (steps.filter((step) => typeof step === 'number').length > INDEXES_MAX)
    throw reject(`has a path with more than ${INDEXES_MAX} indexes`);
  return steps;
}
