import { findPatternFault } from '../../sql/pattern.ts';
import { quote } from '../../sql/quote.ts';
import { createMatcher } from '../../sql/text-matcher.ts';
import { AGGREGATES, writeQuantile } from './aggregate.ts';
import { aggregate, writeOver } from './aggregate-call.ts';
import { cast } from './cast.ts';
import { CHOICES } from './choice.ts';
import type { Context } from './context.ts';
import { as, type Wanted, WrongType } from './convert.ts';
import { type BigQueryFunction, FUNCTIONS } from './function.ts';
import { JSON_FUNCTIONS, translateJson } from './json-function.ts';
import { type NameNode, readArguments, readFunctionName, readPart } from './parse/name.ts';
import type { Node } from './parse/tree.ts';
import { microsOf, writeAdded } from './time-function.ts';
import type { Type, Value } from './value.ts';

/** Functions that cast their argument. */
const CASTS: ReadonlySet<string> = new Set(['timestamp', 'datetime', 'date', 'string']);

/** A call of a function. @throws WrongType for one that is not known */
export function translateCall(node: Node, context: Context): Value {
  const { reader, translate } = context;
  const name = readFunctionName(reader, node);
  const args = readArguments(reader, node);
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
  if (Object.hasOwn(AGGREGATES, name)) {
    requireCount(name, args.length, { min: 1, max: 1 });
    const value = first === undefined ? undefined : context.translateRow(first);
    return aggregate(name, { value, isDistinct: false, over: writeOver(name, node, context) });
  }
  const known = FUNCTIONS.get(name);
  if (known === undefined)
    throw new WrongType(`calls ${name}, which is not understood; docs/studio-sql.md lists what is`);
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
  { args, context }: { readonly args: readonly Node[]; readonly context: Context },
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
    return kind === 'part'
      ? readPart(context.reader, arg)
      : writeArgument(name, kind, context.translate(arg));
  });
  return { type, sql: write(...sqls) };
}

function writeArgument(name: string, kind: BigQueryFunction['args'][number], value: Value): string {
  const { text, sql } = value;
  if (kind === 'count') {
    if (/^\d{1,9}$/.test(sql)) return sql;
    throw new WrongType(`calls ${name} without a whole number where one belongs`);
  }
  if (kind !== 'text' && kind !== 'pattern') return as(value, kind as Wanted); // the others have been read
  if (text === undefined) throw new WrongType(`calls ${name} without a text in quotes where one belongs`);
  return quote(kind === 'pattern' ? readPattern(text) : text);
}

/** @throws WrongType for a pattern that is refused */
function readPattern(pattern: string): string {
  const fault = findPatternFault(pattern);
  if (fault !== undefined) throw new WrongType(`has a pattern that ${fault}`);
  if (typeof createMatcher(pattern) === 'string')
    throw new WrongType(`has ${JSON.stringify(pattern.slice(0, 60))}, which is no regular expression of RE2`);
  // In ClickHouse a dot is also the end of a line.
  return pattern.includes('.') ? `(?-s)${pattern}` : pattern;
}

/** INTERVAL. `micros` is given if it is constant, and always as long. */
function readInterval(node: Node, context: Context) {
  const { reader, translate } = context;
  if (reader.word(node, 'type') !== 'interval')
    throw new WrongType('has no INTERVAL such as INTERVAL 1 HOUR there');
  const count = translate(reader.must(node, 'expr'));
  const part = (reader.word(node, 'unit') ?? '').toLowerCase();
  const sql = count.text !== undefined && /^-?\d{1,9}$/.test(count.text) ? count.text : as(count, 'int64');
  const number = /^\(?-?\d{1,9}\)?$/.test(sql) ? Number(sql.replace(/[()]/g, '')) : undefined;
  const isFixed = !/^(?:week|month|quarter|year)$/.test(part);
  const micros = number === undefined || !isFixed ? undefined : number * microsOf(part);
  return { part, count: sql, micros };
}

/** A time and an INTERVAL before or after it. */
export function addInterval(
  time: Value,
  node: Node,
  {
    type,
    sign,
    context,
  }: { readonly type: Type; readonly sign: 'add' | 'subtract'; readonly context: Context },
): Value {
  const wanted = type === 'datetime' ? 'datetime' : 'timestamp';
  const { part, count, micros } = readInterval(node, context);
  const sql = writeAdded(sign, as(time, wanted), { part, count });
  const { instant } = time;
  if (instant === undefined || micros === undefined) return { type: wanted, sql };
  return { type: wanted, sql, instant: sign === 'add' ? instant + micros : instant - micros };
}

/** `approx_quantiles(x, n)[offset(k)]`. @throws WrongType for the member of any other list */
export function translateMember(
  member: NameNode & { kind: 'member' },
  { reader, translate }: Context,
): Value {
  const { list, offset, index } = member;
  const place = translate(index);
  const isCall = reader.word(list, 'type') === 'function';
  const [value, parts, ...others] = isCall ? readArguments(reader, list) : [];
  const isQuantiles = isCall && readFunctionName(reader, list) === 'approx_quantiles' && others.length === 0;
  if (!isQuantiles || value === undefined || parts === undefined)
    throw new WrongType(
      `has […] after something else than approx_quantiles(x, 100): ${offset.toUpperCase()}`,
    );
  if (offset !== 'offset')
    throw new WrongType(`has […] with ${offset.toUpperCase()}, which is not understood; write [OFFSET(50)]`);
  const number = /^\d+$/.test(place.sql) ? Number(place.sql) : Number.NaN;
  return writeQuantile(translate(value), Number(translate(parts).sql), number);
}
