import { quote } from '../../sql/quote.ts';
import { AGGREGATES, writeQuantile } from './aggregate.ts';
import { aggregate, writeOver } from './aggregate-call.ts';
import { cast } from './cast.ts';
import { CHOICES } from './choice.ts';
import type { Context } from './context.ts';
import { as, WrongType } from './convert.ts';
import { type BigQueryFunction, FUNCTIONS } from './function.ts';
import { JSON_FUNCTIONS, translateJson } from './json-function.ts';
import { type NameNode, readArguments, readFunctionName, readPart } from './name.ts';
import { microsOf, TIME_FUNCTIONS } from './time-function.ts';
import type { Node } from './tree.ts';
import type { Value } from './value.ts';

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
    const value = first === undefined ? undefined : translate(first);
    return aggregate(name, { value, isDistinct: false, over: writeOver(node, context) });
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
  { args, context }: { args: readonly Node[]; context: Context },
): Value {
  const max = isVariadic ? 50 : wanted.length;
  requireCount(name, args.length, { min: wanted.length - optional, max });
  let instant: Value['instant'];
  const sqls = args.map((arg, i) => {
    const kind = wanted[Math.min(i, wanted.length - 1)];
    if (kind === 'part') return readPart(context.reader, arg);
    if (kind === 'interval') {
      const { part, count, micros } = readInterval(arg, context);
      const sign = name.endsWith('_sub') ? -1 : 1;
      instant = instant === undefined || micros === undefined ? undefined : instant + sign * micros;
      return `${part} ${count}`;
    }
    const value = context.translate(arg);
    instant = value.instant;
    if (kind === 'text' || kind === 'pattern') return readText(name, value);
    return kind === undefined || kind === 'any' ? value.sql : as(value, kind);
  });
  if (Object.hasOwn(TIME_FUNCTIONS, name) && /^current_(?:timestamp|datetime)$/.test(name))
    instant = context.now;
  const sql = write(...sqls);
  const isConstant = instant !== undefined && /^(?:current_|(?:timestamp|datetime)_(?:add|sub)$)/.test(name);
  return { type, sql, ...(isConstant && instant !== undefined && { instant }) };
}

function readText(name: string, { text }: Value): string {
  if (text !== undefined) return quote(text);
  throw new WrongType(`calls ${name} without a text in quotes where one belongs`);
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

/** `time + INTERVAL …` and `time - INTERVAL …`. */
export function addInterval(time: Value, node: Node, sign: 'add' | 'subtract', context: Context): Value {
  const type = time.type === 'datetime' ? 'datetime' : 'timestamp';
  const { part, count, micros } = readInterval(node, context);
  const name = `${type}_${sign === 'add' ? 'add' : 'sub'}`;
  const sql = TIME_FUNCTIONS[name]?.write(as(time, type), `${part} ${count}`) ?? '';
  const { instant } = time;
  if (instant === undefined || micros === undefined) return { type, sql };
  return { type, sql, instant: sign === 'add' ? instant + micros : instant - micros };
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
      `has […] after something else than approx_quantiles(x, 100), which is not understood`,
    );
  if (offset !== 'offset' && offset !== 'ordinal')
    throw new WrongType(`has [${offset || '…'}] without OFFSET or ORDINAL in it`);
  const number = /^\d+$/.test(place.sql) ? Number(place.sql) : Number.NaN;
  return writeQuantile(
    translate(value),
    Number(translate(parts).sql),
    offset === 'ordinal' ? number - 1 : number,
  );
}
