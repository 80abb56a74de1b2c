import { quote } from '../../sql/quote.ts';
import { translateAggregate } from './aggregate-call.ts';
import { addInterval, translateCall, translateMember } from './call.ts';
import { cast } from './cast.ts';
import { translateCase } from './choice.ts';
import type { Context } from './context.ts';
import { as, instantOf, WrongType } from './convert.ts';
import { readName } from './name.ts';
import { commonOf, compare, is, operate } from './operator.ts';
import { findName, readFound } from './scope.ts';
import { writeExtract } from './time-function.ts';
import type { Node, Reader } from './tree.ts';
import { jsonValue, type Value } from './value.ts';

/** Translates an expression. @throws TailraceError `invalid_parameter` for what is not understood in it */
export function translateExpression(node: Node, around: Omit<Context, 'translate'>): Value {
  const context: Context = { ...around, translate: (inner) => translateExpression(inner, around) };
  const { reader } = context;
  const type = reader.take(node, 'ast') === undefined ? (reader.word(node, 'type') ?? '') : 'subquery';
  const translate = Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  if (translate === undefined)
    throw reader.refuse(`has ${type.replaceAll('_', ' ').toUpperCase()}, which is not understood`, node);
  try {
    return translate(node, context);
  } catch (error) {
    throw error instanceof WrongType ? reader.refuse(error.message, node) : error;
  }
}

type Translate = (node: Node, context: Context) => Value;

const timeLiteral =
  (type: 'timestamp' | 'datetime' | 'date'): Translate =>
  (node, { reader }) => {
    const token = reader.literal(node);
    return instantOf(token.value, type);
  };

const text: Translate = (node, { reader }) => {
  const { value } = reader.literal(node);
  return { type: 'string', sql: quote(value), text: value };
};

/** Every kind of node in an expression. */
const KINDS: Readonly<Record<string, Translate>> = {
  single_quote_string: text,
  number: (node, { reader }) => writeNumber(reader.literal(node).value),
  bool: (node, { reader }) => ({ type: 'bool', sql: reader.take(node, 'value') === true ? 'true' : 'false' }),
  null: (node, { reader }) => {
    reader.take(node, 'value');
    return { type: 'null', sql: 'NULL' };
  },
  timestamp: timeLiteral('timestamp'),
  datetime: timeLiteral('datetime'),
  date: timeLiteral('date'),
  column_ref: translateName,
  binary_expr: translateOperator,
  unary_expr: translateUnary,
  case: translateCase,
  cast: translateCast,
  extract: (node, context) => {
    const { reader } = context;
    const args = reader.must(node, 'args');
    const field = (reader.word(args, 'field') ?? '').toLowerCase();
    const source = context.translate(reader.must(args, 'source'));
    if (field === 'date') return cast(source, 'date', false);
    const time = source.type === 'datetime' || source.type === 'date' ? source.sql : as(source, 'timestamp');
    return { type: 'int64', sql: writeExtract(field, time) };
  },
  function: translateCall,
  aggr_func: translateAggregate,
  any_value: translateAggregate,
  subquery: (node, { subquery }) => {
    const { sql, type } = subquery(node);
    return type === 'json' ? jsonValue(`ifNull(${sql}, '')`) : { type, sql };
  },
  expr_list: (node, { reader }) => {
    throw reader.refuse('has a list of values in a place that is not understood', node);
  },
};

/** Of `literals`, so it has no sign. */
function writeNumber(digits: string): Value {
  if (!/^\d+$/.test(digits))
    return { type: 'float64', sql: `toFloat64(${quote(digits.replace(/^\./, '0.'))})` };
  if (BigInt(digits) >= 2n ** 63n) throw new WrongType(`has the number ${digits}, which is beyond INT64`);
  return { type: 'int64', sql: BigInt(digits).toString() };
}

function translateName(node: Node, context: Context): Value {
  const { reader, scope } = context;
  const name = readName(reader, node);
  if (name.kind === 'star') throw reader.refuse('has * in a place that is not understood', node);
  if (name.kind === 'member') return translateMember(name, context);
  const [first = ''] = name.names;
  const alias = name.names.length === 1 ? scope.aliases.get(first.toLowerCase()) : undefined;
  if (alias !== undefined) return alias;
  const found = findName(name.names, scope);
  if (typeof found === 'string') throw reader.refuse(`has an ambiguous name: ${found}`, node);
  if (found !== undefined) return readFound(found);
  const known = scope.relations.flatMap(({ source }) => [...source.columns.keys()]);
  const written = name.names.join('.');
  throw reader.refuse(
    `has the name ${written}, which is not known there; known are ${known.join(', ') || 'no names'}`,
    node,
  );
}

function translateOperator(node: Node, context: Context): Value {
  const { reader } = context;
  const operator = reader.word(node, 'operator') ?? '';
  const leftNode = reader.must(node, 'left');
  const rightNode = reader.must(node, 'right');
  const left = context.translate(leftNode);
  if (operator === 'IN' || operator === 'NOT IN') return translateIn(left, rightNode, operator, context);
  if (operator === 'BETWEEN' || operator === 'NOT BETWEEN') {
    const [low, high] = reader.nodes(rightNode, 'value').map((bound) => context.translate(bound));
    reader.word(rightNode, 'type');
    if (low === undefined || high === undefined) throw new WrongType('has BETWEEN without two bounds');
    const sql = `(${compare('>=', left, low)} AND ${compare('<=', left, high)})`;
    return { type: 'bool', sql: operator === 'BETWEEN' ? sql : `(NOT ${sql})` };
  }
  if (operator === 'IS' || operator === 'IS NOT') {
    const what = reader.word(rightNode, 'type');
    const value = reader.take(rightNode, 'value');
    if (what === 'null') return is(left, 'null', operator === 'IS NOT');
    if (what === 'bool') return is(left, value === true, operator === 'IS NOT');
    throw new WrongType(`has ${operator} without NULL, TRUE or FALSE after it`);
  }
  if (/^[=<>!]+$/.test(operator) && isComparison(leftNode, reader))
    throw new WrongType(`has a comparison of a comparison by ${operator}; use brackets`);
  if (reader.word(rightNode, 'type') === 'interval' && (operator === '+' || operator === '-'))
    return addInterval(left, rightNode, operator === '+' ? 'add' : 'subtract', context);
  return operate(operator, left, context.translate(rightNode));
}

/** Without brackets BigQuery does not take `a = b = c`, which the parser does. */
function isComparison(node: Node, reader: Reader): boolean {
  const isPlain = reader.word(node, 'type') === 'binary_expr' && reader.take(node, 'parentheses') !== true;
  return isPlain && /^[=<>!]+$/.test(reader.word(node, 'operator') ?? '');
}

function translateUnary(node: Node, context: Context): Value {
  const { reader, translate } = context;
  const operator = (reader.word(node, 'operator') ?? '').toUpperCase();
  const value = translate(reader.must(node, 'expr'));
  if (operator === 'NOT') return { type: 'bool', sql: `(NOT ${as(value, 'bool')})` };
  const type = value.type === 'int64' ? 'int64' : 'float64';
  if (operator === '+') return { type, sql: as(value, type) };
  if (operator === '-') return { type, sql: `(-${as(value, type)})` };
  throw new WrongType(`has the operator ${operator}, which is not understood`);
}

function translateCast(node: Node, { reader, translate }: Context): Value {
  const [target, ...others] = reader.nodes(node, 'target');
  const keyword = (reader.word(node, 'keyword') ?? '').toLowerCase();
  if (target === undefined || others.length > 0) throw new WrongType('has CAST without one type');
  const type = (reader.word(target, 'dataType') ?? '').toLowerCase();
  return cast(translate(reader.must(node, 'expr')), type, keyword === 'safe_cast');
}

function translateIn(left: Value, list: Node, operator: string, context: Context): Value {
  const { reader } = context;
  if (reader.word(list, 'type') !== 'expr_list')
    throw new WrongType(`has ${operator} without a list in brackets`);
  const nodes = reader.nodes(list, 'value');
  const [first] = nodes;
  if (nodes.length === 1 && first !== undefined && reader.take(first, 'ast') !== undefined) {
    // With a NULL among the rows NOT IN finds none in BigQuery, and some in ClickHouse.
    if (operator === 'NOT IN') throw new WrongType('has NOT IN (SELECT …), which is not understood');
    const { sql: select, type: innerType } = context.subquery(first);
    const member: Value = innerType === 'json' ? jsonValue("ifNull(c0, '')") : { type: innerType, sql: 'c0' };
    const type = commonOf(left, member);
    return { type: 'bool', sql: `(${as(left, type)} IN (SELECT ${as(member, type)} FROM ${select}))` };
  }
  const values = nodes.map((node) => context.translate(node));
  const types = new Set(values.map((value) => commonOf(left, value)));
  const [type] = types;
  const areConstant = values.every(({ text, sql }) => text !== undefined || /^\d+$/.test(sql));
  if (type !== undefined && types.size === 1 && areConstant) {
    return {
      type: 'bool',
      sql: `(${as(left, type)} ${operator} (${values.map((value) => as(value, type)).join(', ')}))`,
    };
  }
  const tests = values.map((value) => compare('=', left, value));
  const sql = `(${tests.join(' OR ')})`;
  return { type: 'bool', sql: operator === 'IN' ? sql : `(NOT ${sql})` };
}
