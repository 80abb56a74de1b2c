import type { Source } from '../../src/definitions/source.ts';
import type { SearchClause, SearchTree, SearchValue } from '../../src/search/parse.ts';
import { compareNumbers, isNumber, listed } from './number.ts';

/** An event as a search sees it. */
export interface SearchedEvent {
  readonly source: string;
  readonly id: string;
  /** Microseconds since the epoch. */
  readonly timestamp: number;
  readonly project: string;
  readonly event_message: string;
  /** Numbers that a double cannot hold are `JSON.rawJSON`. */
  readonly metadata: object;
}

type Compare = Extract<SearchClause, { kind: 'compare' }>;
type Typed = { readonly type: string; readonly value: unknown };

const RANKS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];
const SPELLINGS: Readonly<Record<string, string>> = {
  log: 'info',
  notice: 'info',
  warning: 'warn',
  panic: 'fatal',
  debug1: 'debug',
};

/** The events that a search finds, written without a thought of SQL: docs/search.md is what it follows. */
export function findEvents(
  events: readonly SearchedEvent[],
  sources: readonly Source[],
  tree: SearchTree | undefined,
): SearchedEvent[] {
  const byName = new Map(sources.map((source) => [source.name, source]));
  return events.filter((event) => {
    const source = byName.get(event.source);
    return source !== undefined && (tree === undefined || isFound(event, source, tree));
  });
}

function isFound(event: SearchedEvent, source: Source, tree: SearchTree): boolean {
  switch (tree.kind) {
    case 'and':
      return tree.items.every((item) => isFound(event, source, item));
    case 'or':
      return tree.items.some((item) => isFound(event, source, item));
    case 'not':
      return !isFound(event, source, tree.item);
    case 'text':
      return hasText(event.event_message, tree.value);
    case 'exists':
      return (textOf(event, source, tree.field) ?? '') !== '';
    case 'compare':
      return isEqual(event, source, tree);
  }
}

function hasText(message: string, value: SearchValue): boolean {
  const [first, ...others] = value.map(remembered);
  const text = remembered(message);
  return others.length === 0 ? text.includes(first ?? '') : matches(text, ['', first ?? '', ...others, '']);
}

/** `fold`, once for each text: thousands of searches look at the same messages. */
function remembered(text: string): string {
  const known = folded.get(text) ?? fold(text);
  folded.set(text, known);
  return known;
}

const isAscii = (letter: string) => /^[\0-\x7f]$/.test(letter);
const CASED = Array.from({ length: 0x11_0000 }, (_, code) => code)
  .filter((code) => code >= 0x80 && (code < 0xd800 || code > 0xdfff))
  .map((code) => String.fromCodePoint(code))
  .filter((letter) => /\p{Changes_When_Casemapped}/u.test(letter))
  .join('');
const firsts = new Map<string, string>();
const folded = new Map<string, string>();

/** Each letter as the first of those that are the same by Unicode's simple case folding, which patterns with `iu` use; ASCII by itself. */
function fold(text: string): string {
  return [...text].map((letter) => (isAscii(letter) ? letter.toLowerCase() : foldOne(letter))).join('');
}

function foldOne(letter: string): string {
  const known = firsts.get(letter);
  if (known !== undefined) return known;
  const first = /\p{Changes_When_Casemapped}/u.test(letter)
    ? new RegExp(letter, 'iu').exec(CASED)?.[0]
    : undefined;
  firsts.set(letter, first ?? letter);
  return first ?? letter;
}

function matches(text: string, pieces: readonly string[]): boolean {
  const escaped = pieces.map((piece) => piece.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&'));
  return new RegExp(`^${escaped.join('.*')}$`, 'su').test(text);
}

/** The level of an event of the shipped sources. */
export function levelOf(event: SearchedEvent, source: Source): string | null {
  const { level } = source;
  const text =
    level?.column === undefined ? '' : String(typedOf(event, source, level.column) ?? '').toLowerCase();
  const named = SPELLINGS[text] ?? text;
  if (RANKS.includes(named)) return named;
  const status = level?.status === undefined ? null : typedOf(event, source, level.status);
  if (typeof status !== 'number') return null;
  return status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info';
}

function typedOf(event: SearchedEvent, source: Source, name: string): unknown {
  const column = source.columns.find((one) => one.name === name);
  return column === undefined ? null : keepType(column.type, readPath(event.metadata, column.path.slice(1)));
}

/** A value of another type than its column's is none. */
function keepType(type: string, value: unknown): unknown {
  if (type === 'string' || type === 'keyword') return typeof value === 'string' ? value : null;
  if (type === 'integer') return Number.isSafeInteger(value) ? value : null;
  return typeof value === type ? value : null;
}

function readPath(json: unknown, path: readonly string[]): unknown {
  let value = json;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    value = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
  }
  return value;
}

/** The value of a field and its kind. */
function typedValueOf(event: SearchedEvent, source: Source, field: readonly string[]): Typed {
  const name = field.length === 1 ? (field[0] ?? '') : '';
  if (name === 'level') return { type: 'level', value: levelOf(event, source) };
  if (name === 'metadata') return { type: 'string', value: JSON.stringify(event.metadata) };
  if (Object.hasOwn(event, name))
    return {
      type: name === 'timestamp' ? 'time' : 'string',
      value: (event as unknown as Record<string, unknown>)[name],
    };
  const path = field[0] === 'metadata' ? field.slice(1) : field;
  const column = source.columns.find(
    (one) =>
      one.otherwise === undefined &&
      one.path[0] === 'metadata' &&
      one.path.length === path.length + 1 &&
      path.every((member, i) => member === one.path[i + 1]),
  );
  const value = readPath(event.metadata, path);
  if (column !== undefined) return { type: column.type, value: keepType(column.type, value) };
  return { type: 'json', value: value ?? null };
}

/** The value of a field as a text; `null` if there is none. */
export function textOf(event: SearchedEvent, source: Source, field: readonly string[]): string | null {
  return toText(typedValueOf(event, source, field));
}

function toText({ value }: Typed): string | null {
  if (value === null) return null;
  if (typeof value === 'string') return value;
  const json = JSON.stringify(value);
  return isNumber(json) ? listed(json) : json;
}

function isEqual(
  event: SearchedEvent,
  source: Source,
  { field, operator, value, isQuoted }: Compare,
): boolean {
  const typed = typedValueOf(event, source, field);
  const { type } = typed;
  const text = toText(typed);
  if (text === null) return false;
  const [wanted] = value;
  if (type === 'level' && value.length === 1) {
    const named = SPELLINGS[wanted.toLowerCase()] ?? wanted.toLowerCase();
    return test(operator, RANKS.indexOf(text) - RANKS.indexOf(named));
  }
  if (type === 'time') return test(operator, Number(text) - Date.parse(wanted) * 1_000);
  if (value.length > 1) return matches(text, value);
  const isOfNumbers = type === 'integer' || type === 'number';
  if (isOfNumbers && !(isQuoted && operator === '='))
    return isNumber(wanted) && test(operator, compareNumbers(text, wanted));
  if (type === 'boolean') return operator === '=' && text === (isQuoted ? wanted : wanted.toLowerCase());
  if (operator === '=') return text === wanted || (type === 'json' && !isQuoted && isSame(text, wanted));
  if (isNumber(wanted) && !isQuoted && field[0] !== 'source')
    return isNumber(text) && test(operator, compareNumbers(text, wanted));
  return test(operator, Buffer.compare(Buffer.from(text), Buffer.from(wanted)));
}

/** Whether a value is how the number of a search is listed: integers exactly, others as doubles. */
function isSame(text: string, wanted: string): boolean {
  if (!isNumber(wanted)) return false;
  if (compareNumbers(wanted, '0') === 0) return ['0', '-0'].includes(text);
  const isInteger = /^-?\d+$/.test(text) && isNumber(text);
  return isInteger ? compareNumbers(text, wanted) === 0 : text === listed(wanted);
}

function test(operator: Compare['operator'], order: number): boolean {
  if (operator === '=') return order === 0;
  if (operator === '<' || operator === '<=') return order < 0 || (operator === '<=' && order === 0);
  return order > 0 || (operator === '>=' && order === 0);
}
