import { quote } from '../../sql/quote.ts';
import { translateAggregate } from './aggregate-call.ts';
import { addInterval, translateCall, translateMember } from './call.ts';
import { cast } from './cast.ts';
import { toValue, translateCase } from './choice.ts';
import type { Context } from './context.ts';
import { as, instantOf, WrongType } from './convert.ts';
import { commonOf, compare, is, operate } from './operator.ts';
import { readName } from './parse/name.ts';
import type { Node, Reader } from './parse/tree.ts';
import { findName, readFound } from './scope.ts';
import { writeExtract } from './time-function.ts';
import type { Type, Value } from './value.ts';

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
    const type = reader.word(args, 'cast_type'); // of a literal, such as TIMESTAMP '2026-11-20'
    const inner = reader.must(args, 'source');
    const source =
      type === undefined
        ? context.translate(inner)
        : cast(context.translate(inner), type.toLowerCase(), false);
    if (field === 'date') return cast(source, 'date', false);
    const time = source.type === 'datetime' || source.type === 'date' ? source.sql : as(source, 'timestamp');
    return { type: 'int64', sql: writeExtract(field, time) };
  },
  function: translateCall,
  aggr_func: translateAggregate,
  any_value: translateAggregate,
  subquery: (node, { subquery }) => {
    const { sql, type } = subquery(node);
    return toValue(type, sql);
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
  if (found !== undefined) {
    const value = readFound(found);
    return scope.grouped.get(value.sql) ?? value;
  }
  const known = scope.relations.flatMap(({ source }) => [...source.columns.keys()]);
  const written = name.names.join('.');
  throw reader.refuse(
    `has the name ${written}, which is not known there; known are ${known.join(', ') || 'no names'}`,
    node,
  );
}

function translateOperator(node: Node, context: Context): Value {
  const { reader, translate } = context;
  const operator = reader.word(node, 'operator') ?? '';
  const leftNode = reader.must(node, 'left');
  const right = reader.must(node, 'right');
  const left = translate(leftNode);
  const special = Object.hasOwn(SPECIAL, operator) ? SPECIAL[operator] : undefined;
  if (special !== undefined) return special(left, right, context);
  if (/^[=<>!]+$/.test(operator) && isComparison(leftNode, reader))
    throw new WrongType(`has a comparison of a comparison by ${operator}; use brackets`);
  const isInterval = reader.word(right, 'type') === 'interval';
  if (!isInterval || (operator !== '+' && operator !== '-')) return operate(operator, left, translate(right));
  const type = left.type === 'datetime' ? 'datetime' : 'timestamp';
  return addInterval(left, right, { type, sign: operator === '+' ? 'add' : 'subtract', context });
}

const not = ({ sql }: Value): Value => ({ type: 'bool', sql: `(NOT ${sql})` });

/** Operators with something else than a value on the right. */
const SPECIAL: Readonly<Record<string, (left: Value, right: Node, context: Context) => Value>> = {
  IN: (left, right, context) => translateIn(left, right, context),
  'NOT IN': (left, right, context) => not(translateIn(left, right, context)),
  BETWEEN: translateBetween,
  'NOT BETWEEN': (left, right, context) => not(translateBetween(left, right, context)),
  IS: (left, right, { reader }) => is(left, readConstant(right, reader), false),
  'IS NOT': (left, right, { reader }) => is(left, readConstant(right, reader), true),
};

function translateBetween(left: Value, bounds: Node, { reader, translate }: Context): Value {
  const [low, high] = reader.nodes(bounds, 'value').map(translate);
  reader.word(bounds, 'type');
  if (low === undefined || high === undefined) throw new WrongType('has BETWEEN without two bounds');
  return { type: 'bool', sql: `(${compare('>=', left, low)} AND ${compare('<=', left, high)})` };
}

function readConstant(node: Node, reader: Reader): 'null' | boolean {
  const type = reader.word(node, 'type');
  const value = reader.take(node, 'value');
  if (type === 'null') return 'null';
  if (type === 'bool') return value === true;
  throw new WrongType('has IS without NULL, TRUE or FALSE after it');
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

function translateIn(left: Value, list: Node, context: Context): Value {
  const { reader, translate } = context;
  if (reader.word(list, 'type') !== 'expr_list') throw new WrongType('has IN without a list in brackets');
  const nodes = reader.nodes(list, 'value');
  const [first] = nodes;
  if (nodes.length === 1 && first !== undefined && reader.take(first, 'ast') !== undefined)
    return isInSelect(left, context.subquery(first));
  const values = nodes.map(translate);
  const types = new Set(values.map((value) => commonOf(left, value)));
  const [type] = types;
  const areConstant = values.every(({ text, sql }) => text !== undefined || /^\d+$/.test(sql));
  if (type === undefined || types.size > 1 || !areConstant) {
    const tests = values.map((value) => compare('=', left, value));
    return { type: 'bool', sql: `(${tests.join(' OR ')})` };
  }
  const members = values.map((value) => as(value, type));
  return { type: 'bool', sql: `(${as(left, type)} IN (${members.join(', ')}))` };
}

/** NULL in place of false if there is a NULL among the rows, which the engine leaves out. */
function isInSelect(left: Value, { sql, type }: { readonly sql: string; readonly type: Type }): Value {
  const member = toValue(type, 'c0');
  const wanted = commonOf(left, member);
  const values = as(member, wanted);
  const nulls = `(SELECT countIf(isNull(${values})) FROM ${sql})`;
  const found = `${as(left, wanted)} IN (SELECT ${values} FROM ${sql})`;
  return {
    type: 'bool',
    sql: `if(${found}, true, if(${nulls} > 0, NULL, if(isNull(${as(left, wanted)}), NULL, false)))`,
  };
}
