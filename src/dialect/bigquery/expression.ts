import { writeValue } from '../../sql/sql.ts';
import { toValue, translateCall, translateCase } from './call.ts';
import { cast } from './function.ts';
import { type Expression, type Form, type Operand, type QueryTree, reject } from './parse/tree.ts';
import { type Context, findName, isSame, readFound } from './scope.ts';
import { translateMember } from './signature.ts';
import { addInterval, writeExtract } from './time-function.ts';
import { as, commonOf, compare, type Type, toNumber, type Value } from './value.ts';

/** Translates each form of an expression. */
const FORMS: { readonly [K in Expression['kind']]: (form: Form<K>, context: Context) => Value } = {
  text: ({ value }) => ({ type: 'string', sql: writeValue(value), text: value }),
  number: ({ digits }) => writeNumber(digits),
  bool: ({ value }) => bool(value ? 'true' : 'false'),
  null: () => ({ type: 'null', sql: 'NULL' }),
  name: translateName,
  chain: ({ operator, operands }, { translate }) =>
    bool(`(${operands.map((one) => as(translate(one), 'bool')).join(` ${operator} `)})`),
  operation: translateOperation,
  comparison({ operator, left, right }, { translate }) {
    const [a, b] = [translate(left), translate(right)];
    return operator === 'LIKE' ? like(a, b) : bool(compare(operator, a, b));
  },
  unary({ operator, operand }, { translate }) {
    const value = translate(operand);
    if (operator === 'NOT') return bool(`(NOT ${as(value, 'bool')})`);
    const { type, sql } = toNumber(value);
    return { type, sql: operator === '+' ? sql : `(-${sql})` };
  },
  in: translateIn,
  is({ value, what }, { translate }) {
    const own = translate(value);
    if (what === 'null') return bool(`isNull(${own.sql})`);
    return bool(`ifNull(${what ? '' : 'NOT '}${as(own, 'bool')}, false)`);
  },
  case: translateCase,
  cast: ({ value, type, isSafe }, { translate }) => cast(translate(value), type, isSafe),
  extract({ part, from }, { translate }) {
    const source = translate(from);
    if (part === 'date') return cast(source, 'date', false);
    const isLocal = source.type === 'datetime' || source.type === 'date';
    return { type: 'int64', sql: writeExtract(part, isLocal ? source.sql : as(source, 'timestamp')) };
  },
  call: translateCall,
  member: translateMember,
  subquery({ query }, context) {
    const { sql, type } = readOne(query, context);
    return toValue(type, sql);
  },
  interval() {
    throw reject(
      'has INTERVAL in a place that is not understood; write it after + or -, or in timestamp_add',
    );
  },
};

/** Translates an expression, of which `context` translates the parts. @throws NotUnderstood for what is not understood */
export function translateExpression(expression: Expression, context: Context): Value {
  const translate = FORMS[expression.kind] as (form: Expression, context: Context) => Value; // that of its kind
  return translate(expression, context);
}

const bool = (sql: string): Value => ({ type: 'bool', sql });

function writeNumber(digits: string): Value {
  if (!/^\d+$/.test(digits))
    return { type: 'float64', sql: `toFloat64(${writeValue(digits.replace(/^\./, '0.'))})` };
  // Converting digits to a BigInt takes a time that grows with the square of their count.
  if (digits.length > DIGITS_MAX || BigInt(digits) >= 2n ** 63n)
    throw reject(`has the number ${digits.slice(0, 60)}, which is beyond INT64`);
  return { type: 'int64', sql: BigInt(digits).toString() };
}

const DIGITS_MAX = 1_000;

function translateName(expression: Form<'name'>, { scope }: Context): Value {
  const { names } = expression;
  const [first = ''] = names;
  const alias = names.length === 1 ? scope.aliases.find(({ label }) => isSame(label, first)) : undefined;
  if (alias !== undefined) return alias.value;
  const found = findName(names, scope);
  if (found !== undefined) {
    const value = readFound(found);
    return scope.grouped.get(value.sql) ?? value;
  }
  const known = scope.relations.flatMap(({ source }) =>
    source.columns.map(({ label }) => label.toLowerCase()),
  );
  throw reject(
    `has the name ${names.join('.')}, which is not known there; known are ${known.join(', ') || 'no names'}`,
    expression,
  );
}

/** A SELECT in brackets with one column. */
function readOne(query: QueryTree, { subquery }: Context): { readonly sql: string; readonly type: Type } {
  const { sql, columns } = subquery(query);
  const [column, ...others] = columns;
  if (column === undefined || others.length > 0)
    throw reject('has a SELECT with more than one column instead of a value', query);
  if (column.type === 'array') throw reject('has a SELECT of an array instead of a value', query);
  return { sql, type: column.type };
}

function translateIn({ value, members }: Form<'in'>, context: Context): Value {
  const { translate } = context;
  const left = translate(value);
  if ('arms' in members) return isInSelect(left, readOne(members, context));
  const values = members.map(translate);
  const types = new Set(values.map((one) => commonOf(left, one)));
  const [type] = types;
  const areConstant = values.every(({ text, sql }) => text !== undefined || /^\d+$/.test(sql));
  if (type === undefined || types.size > 1 || !areConstant) {
    const tests = values.map((one) => compare('=', left, one));
    return bool(`(${tests.join(' OR ')})`);
  }
  const listed = values.map((one) => as(one, type));
  return bool(`(${as(left, type)} IN (${listed.join(', ')}))`);
}

/** NULL instead of false if there is a NULL among the rows, which the engine leaves out. */
function isInSelect(left: Value, { sql, type }: { readonly sql: string; readonly type: Type }): Value {
  const member = toValue(type, 'c0');
  const wanted = commonOf(left, member);
  const values = as(member, wanted);
  const nulls = `(SELECT countIf(isNull(${values})) FROM ${sql})`;
  const found = `${as(left, wanted)} IN (SELECT ${values} FROM ${sql})`;
  return bool(`if(${found}, true, if(${nulls} > 0, NULL, if(isNull(${as(left, wanted)}), NULL, false)))`);
}

// Each operation is one level of the engine's syntax trees, whose depth is limited (engine/read-settings.ts).
const OPERATORS_MAX = 48;

/**
 * Translates a chain of + and -, or of * / and ||, from the left.
 * @throws NotUnderstood if BigQuery has no operator for the types
 */
function translateOperation({ first, rest }: Form<'operation'>, context: Context): Value {
  if (rest.filter(({ operator }) => operator !== '||').length > OPERATORS_MAX)
    throw reject(`must have at most ${OPERATORS_MAX} of + - * / in a row; there is one more`);
  let left = context.translate(first);
  let bare: string | undefined; // `left` without brackets, so that a long chain is not nested as deep as it is long
  for (const { operator, operand } of rest) {
    if (operand.kind === 'interval' && (operator === '+' || operator === '-')) {
      left = moveTime(left, operator, operand, context);
      bare = undefined;
      continue;
    }
    const right = context.translate(operand);
    const type = typeOf(operator, left, right);
    bare = operate(
      bare !== undefined && left.type === type ? bare : as(left, type),
      operator,
      as(right, type),
    );
    left = { type, sql: operator === '||' ? `concat(${bare})` : `(${bare})` };
  }
  return left;
}

function typeOf(operator: Operand['operator'], left: Value, right: Value): 'string' | 'int64' | 'float64' {
  if (operator === '||') return 'string';
  return operator !== '/' && left.type === 'int64' && right.type === 'int64' ? 'int64' : 'float64';
}

function moveTime(time: Value, operator: '+' | '-', interval: Form<'interval'>, context: Context): Value {
  const type = time.type === 'datetime' ? 'datetime' : 'timestamp';
  return addInterval(time, interval, { type, sign: operator === '+' ? 'add' : 'subtract', context });
}

function operate(left: string, operator: Operand['operator'], right: string): string {
  if (operator === '||') return `${left}, ${right}`;
  return operator === '/' ? divide(left, right) : `${left} ${operator} ${right}`;
}

/** @throws NotUnderstood for a pattern that is not a text in quotes */
function like(left: Value, { text }: Value): Value {
  if (text === undefined) throw reject('has LIKE without a string in quotes after it');
  return bool(`(${as(left, 'string')} LIKE ${writeValue(text)})`);
}

/** A quotient of two floats. Fails for a zero, as in BigQuery; the engine would give an infinite number. */
function divide(a: string, b: string): string {
  if (/^toFloat64\(\d*[1-9]\d*\)$/.test(b)) return `${a} / ${b}`;
  return `${a} / ${b} * intDiv(1, toUInt8(${b} != 0))`;
}
