import { findLevel, type Level } from '../../definitions/level.ts';
import type { Source } from '../../definitions/source.ts';
import { boundOfInteger, compareNumbers, isNumber, spellingsOf } from '../../search/comparison.ts';
import { casesOf, findLevels, isFitting, matches, readTime, TESTS } from '../../search/condition.ts';
import { findColumn, KINDS, pathOf } from '../../search/field.ts';
import type { Compare, SearchField, SearchTree, SearchValue } from '../../search/parse.ts';
import type { Event } from '../event.ts';
import { readString } from '../json/grammar.ts';
import { cutMembers, type Member } from '../json/scan.ts';

export type Match = (event: Event) => boolean;

/** A text, or what a typed column has; `undefined` if there is none. */
type Value = string | number | boolean | undefined;

/**
 * Compiles a search that `verifyCondition` accepts. It finds the events whose rows the condition of `writeCondition` finds;
 * also those whose JSON the engine cannot read, for an integer beyond 64 bits or half a surrogate pair.
 */
export function createMatch(tree: SearchTree, source: Source): Match {
  switch (tree.kind) {
    case 'and':
    case 'or': {
      const items = tree.items.map((item) => createMatch(item, source));
      if (tree.kind === 'and') return (event) => items.every((item) => item(event));
      return (event) => items.some((item) => item(event));
    }
    case 'not': {
      const item = createMatch(tree.item, source);
      return (event) => !item(event);
    }
    case 'text':
      return createTextMatch(tree.value);
    case 'exists':
      return createExistsMatch(tree.field, source);
    case 'compare':
      return createCompare(tree, source);
  }
}

/** The name of a field that is one name. */
const soleName = (field: SearchField) => (field.length === 1 ? field[0] : '');

function createTextMatch(value: SearchValue): Match {
  if (value.every((text) => text === '')) return () => true;
  const [first, ...others] = value.map(fold);
  const pieces: SearchValue = ['', first ?? '', ...others, ''];
  return ({ message }) => matches(foldOnce(message), pieces);
}

/** Keeps what was read last: the terms of a search read one event after another. */
function keepLast<T>(read: (text: string) => T): (text: string) => T {
  let last: { readonly text: string; readonly result: T } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, result: read(text) };
    return last.result;
  };
}

const foldOnce = keepLast(fold);
const ASCII_ONLY = /^[\0-\x7f]*$/;

/** Returns a text in which letters that are the same in any case are equal; ASCII letters equal only each other. */
function fold(text: string): string {
  if (ASCII_ONLY.test(text)) return text.toLowerCase();
  const small = text.toWellFormed().replaceAll(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
  return small.replaceAll(/[^\0-\x7f]/gu, (letter) => {
    const [first = letter] = casesOf(letter) ?? letter;
    return first;
  });
}

function createExistsMatch(field: SearchField, source: Source): Match {
  const name = soleName(field);
  if (name === 'source' || name === 'timestamp') return () => true;
  const read = name === 'level' ? createReadLevel(source) : findOperand(field, source).read;
  return (event) => (toText(read(event)) ?? '') !== '';
}

function createCompare(clause: Compare, source: Source): Match {
  const { field, operator } = clause;
  const name = soleName(field);
  if (name === 'level') {
    const levels: readonly (Level | undefined)[] = findLevels(clause);
    const read = createReadLevel(source);
    return (event) => levels.includes(read(event));
  }
  if (name === 'timestamp') {
    const micros = readTime(clause);
    return ({ timestamp }) => TESTS[operator](timestamp - micros);
  }
  if (name === 'source') {
    const isSource = isFitting(source.name, clause);
    return () => isSource;
  }
  const { kind, read } = findOperand(field, source);
  const test = createValueTest(kind, clause);
  return (event) => {
    const found = read(event);
    return found !== undefined && test(found);
  };
}

interface Operand {
  readonly kind: 'text' | 'json' | 'integer' | 'number' | 'boolean';
  readonly read: (event: Event) => Value;
}

const ROW_TEXTS: Readonly<Record<string, (event: Event) => string>> = {
  id: ({ id }) => id.toWellFormed(),
  project: ({ project }) => project.toWellFormed(),
  event_message: ({ message }) => message.toWellFormed(),
  metadata: (event) => jsonOf(event).toWellFormed(),
};

const jsonOf = ({ metadata, attributes }: Event) => (metadata === '' ? attributes : metadata);

function findOperand(field: SearchField, source: Source): Operand {
  const name = soleName(field);
  const ofRow = Object.hasOwn(ROW_TEXTS, name) ? ROW_TEXTS[name] : undefined;
  if (ofRow !== undefined) return { kind: 'text', read: ofRow };
  const column = findColumn(source, field);
  if (column === undefined) {
    const path = pathOf(field);
    return { kind: 'json', read: (event) => readJsonText(jsonOf(event), path) };
  }
  const place = source.columns.indexOf(column);
  return { kind: KINDS[column.type], read: ({ typed }) => toValue(typed[place]) };
}

function toValue(value: unknown): Value {
  if (typeof value === 'string') return value.toWellFormed();
  return typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

/** Writes a value as the engine does. */
function toText(value: Value): string | undefined {
  return typeof value === 'number' ? doubleText(value) : value === undefined ? value : String(value);
}

const doubleText = (double: number) => (Object.is(double, -0) ? '-0' : String(double).replace('e+', 'e'));

function createValueTest(kind: Operand['kind'], clause: Compare): (value: NonNullable<Value>) => boolean {
  const { operator, value, isQuoted } = clause;
  const [wanted] = value;
  if (value.length > 1) return (found) => matches(toText(found) ?? '', value);
  if (kind === 'boolean') {
    const text = isQuoted ? wanted : wanted.toLowerCase();
    return (found) => operator === '=' && String(found) === text;
  }
  if (kind === 'integer') return createIntegerTest(clause);
  if (kind === 'number') return createNumberTest(clause);
  const test = TESTS[operator];
  if (operator === '=') {
    const texts = kind === 'json' && !isQuoted ? spellingsOf(wanted) : [wanted];
    return (found) => typeof found === 'string' && texts.includes(found);
  }
  if (!isQuoted && isNumber(wanted))
    return (found) => typeof found === 'string' && isNumber(found) && test(compareNumbers(found, wanted));
  return (found) => typeof found === 'string' && test(compareBytes(found, wanted));
}

function createIntegerTest(clause: Compare): (found: Value) => boolean {
  const bound = boundOfInteger(clause);
  if (typeof bound === 'string') return () => bound === 'always';
  return (found) => TESTS[bound.operator](compareNumbers(String(found), bound.value));
}

function createNumberTest({ operator, value: [wanted], isQuoted }: Compare): (found: Value) => boolean {
  if (operator === '=' && isQuoted) return (found) => toText(found) === wanted;
  if (!isNumber(wanted)) return () => false;
  return (found) => TESTS[operator](Number(found) - Number(wanted));
}

/** Compares texts as the engine does. */
const compareBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

function createReadLevel({ level, columns }: Source): (event: Event) => Level | undefined {
  if (level === undefined) return () => undefined;
  const { errorFrom, warnFrom } = level;
  const placeOf = (name: string | undefined) => columns.findIndex((column) => column.name === name);
  const [ofText, ofStatus] = [placeOf(level.column), placeOf(level.status)];
  return ({ typed }) => {
    const text = typed[ofText];
    const named = typeof text === 'string' && ASCII_ONLY.test(text) ? findLevel(text) : undefined;
    if (named !== undefined) return named;
    const status = typed[ofStatus];
    if (typeof status !== 'number') return undefined;
    return status >= errorFrom ? 'error' : status >= warnFrom ? 'warn' : 'info';
  };
}

/** Reads the value at a path as the engine's JSONExtractRaw does: a text, or the JSON of any other value but null. */
function readJsonText(json: string, path: readonly string[]): string | undefined {
  const cut = cutterOf(json);
  let value: string | undefined = json;
  for (const name of path) {
    if (value === undefined || !/^\s*\{/.test(value)) return undefined;
    value = cut(value).find((member) => member.name === name)?.text;
  }
  if (value === undefined || value === 'null') return undefined;
  if (value.startsWith('"')) return readString(value);
  return /^[[{]/.test(value) ? writeJson(value) : writeNumber(value);
}

/** Cuts each object of a JSON text once. */
const cutterOf = keepLast((_json) => {
  const known = new Map<string, readonly Member[]>();
  return (text: string) => {
    const members = known.get(text) ?? cutMembers(text);
    known.set(text, members);
    return members;
  };
});

const TOKENS = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|-?\d[\d.eE+-]*|\s+/g;

function writeJson(json: string): string {
  return json.replace(TOKENS, (token) => {
    if (token.startsWith('"')) return JSON.stringify(readString(token));
    return /^\s/.test(token) ? '' : writeNumber(token);
  });
}

/** Writes a number, true or false as the engine does: an integer by its digits, any other number as a double. */
function writeNumber(source: string): string {
  if (!/^-?\d/.test(source)) return source;
  if (/^-?\d+$/.test(source)) return source === '-0' ? '0' : source;
  return doubleText(Number(source));
}
