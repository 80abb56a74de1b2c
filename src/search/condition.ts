import { findLevel, LEVELS, type Level } from '../definitions/level.ts';
import { formatInstant, type Micros, parseInstant } from '../lib/instant.ts';
import { shorten } from '../query/parameters.ts';
import { writeValue } from '../sql/sql.ts';
import type { Fields, Operand } from './field.ts';
import { boundOfInteger, isNumber, spellingsOf, writeBound } from './number.ts';
import { reject } from './parse.ts';
import { toPattern, writeText } from './text.ts';
import type { SearchClause, SearchTree, SearchValue } from './tree.ts';

/** A condition on the value of a field. */
export type Compare = Extract<SearchClause, { kind: 'compare' }>;

export const NEVER = 'false';
const ALWAYS = 'true';

/**
 * Writes the conditions of a search that `verifyCondition` accepts, on the rows of one source, all of which have to
 * hold; `[]` if every row meets them. Texts of the caller enter them as quoted literals.
 */
export function writeConditions(tree: SearchTree, fields: Fields): readonly string[] {
  const items = tree.kind === 'and' ? tree.items : [tree];
  return items.map((item) => writeCondition(item, fields)).filter((one) => one !== ALWAYS);
}

/** The same as one condition, which may be NULL. */
export function writeCondition(tree: SearchTree, fields: Fields): string {
  switch (tree.kind) {
    case 'and':
    case 'or':
      return join(
        tree.kind,
        tree.items.map((item) => writeCondition(item, fields)),
      );
    case 'not':
      return writeNot(writeCondition(tree.item, fields));
    case 'text':
      return tree.value.every((text) => text === '') ? ALWAYS : writeText(tree.value, fields);
    case 'exists':
      return writeExists(fields.find(tree.field));
    case 'compare':
      return writeCompare(tree, fields);
  }
}

function join(kind: 'and' | 'or', items: readonly string[]): string {
  const [neutral, decisive] = kind === 'and' ? [ALWAYS, NEVER] : [NEVER, ALWAYS];
  if (items.includes(decisive)) return decisive;
  const rest = items.filter((item) => item !== neutral);
  const [first = neutral] = rest;
  return rest.length < 2 ? first : `(${rest.join(kind === 'and' ? ' AND ' : ' OR ')})`;
}

/** A field without a value makes a condition NULL, and rows without the field are not equal to anything. */
function writeNot(condition: string): string {
  if (condition === ALWAYS) return NEVER;
  return condition === NEVER ? ALWAYS : `NOT ifNull(${condition}, false)`;
}

/** @throws TailraceError `invalid_parameter` for a value that `level` or `timestamp` cannot have */
export function verifyCondition(tree: SearchTree): void {
  if ('items' in tree) for (const item of tree.items) verifyCondition(item);
  else if (tree.kind === 'not') verifyCondition(tree.item);
  else if (tree.kind === 'compare' && tree.field.length === 1) {
    const [name] = tree.field;
    if (name === 'level') findLevels(tree);
    if (name === 'timestamp') readTime(tree);
  }
}

function writeExists(operand: Operand): string {
  const { kind } = operand;
  if (kind === 'level') return operand.isOf(LEVELS);
  if (kind === 'time' || kind === 'constant') return ALWAYS;
  return kind === 'text' || kind === 'json' ? `${operand.sql} != ''` : `${operand.sql} IS NOT NULL`;
}

function writeCompare(clause: Compare, fields: Fields): string {
  const operand = fields.find(clause.field);
  if (operand.kind === 'level') return operand.isOf(findLevels(clause));
  const { kind, sql } = operand;
  const { operator, value } = clause;
  if (kind === 'time') return `${sql} ${operator} ${writeValue(formatInstant(readTime(clause)))}`;
  if (kind === 'constant') return isFitting(operand.text, clause) ? ALWAYS : NEVER;
  const parameter = fields.findParameter(clause);
  if (parameter !== undefined) return `${sql} ${operator} ${parameter}`;
  if (value.length > 1) return `${toText(operand)} LIKE ${fields.like(toPattern(value))}`;
  if (kind === 'boolean') return writeBoolean(sql, clause);
  if (kind === 'integer') return writeInteger(sql, clause);
  if (kind === 'number') return writeNumber(sql, clause);
  if (operator === '=') return writeEqual(operand, clause);
  const [text] = value;
  return !clause.isQuoted && isNumber(text)
    ? writeBound(fields.number(sql), operator, text)
    : `${sql} ${operator} ${writeValue(text)}`;
}

/** Writes the text of a value. */
export function toText(operand: Operand): string {
  if (operand.kind === 'level') return `nullIf(${operand.write()}, ${operand.none})`;
  const { kind, sql } = operand;
  return ['integer', 'number', 'boolean', 'time'].includes(kind) ? `toString(${sql})` : sql;
}

function writeEqual({ kind, sql }: { kind: string; sql: string }, { value, isQuoted }: Compare): string {
  const [text] = value;
  const texts = kind === 'json' && !isQuoted ? spellingsOf(text) : [text];
  return texts.length === 1
    ? `${sql} = ${writeValue(text)}`
    : `${sql} IN (${texts.map(writeValue).join(', ')})`;
}

function writeBoolean(sql: string, { operator, value, isQuoted }: Compare): string {
  const text = isQuoted ? value[0] : value[0].toLowerCase();
  return operator === '=' && ['true', 'false'].includes(text) ? `${sql} = ${text}` : NEVER;
}

/** Writes a condition on a column of integers. */
function writeInteger(sql: string, clause: Compare): string {
  const bound = boundOfInteger(clause);
  if (bound === 'always') return `${sql} IS NOT NULL`;
  return bound === 'never' ? NEVER : `${sql} ${bound.operator} ${bound.value}`;
}

/** Writes a condition on a column of doubles. */
function writeNumber(sql: string, { operator, value, isQuoted }: Compare): string {
  const [text] = value;
  if (operator === '=' && isQuoted) return `toString(${sql}) = ${writeValue(text)}`;
  if (!isNumber(text)) return NEVER;
  // The engine reads digits of any length as those of a double.
  const isShort = /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text);
  return `${sql} ${operator} ${isShort ? text : `CAST(${writeValue(text)}, 'Float64')`}`;
}

/** Returns the levels that are meant, by their names or in their order. @throws TailraceError `invalid_parameter` */
export function findLevels({ operator, value, position }: Compare): readonly Level[] {
  return LEVELS.filter(findTest());

  function findTest(): (level: Level) => boolean {
    if (value.length > 1) return (level) => matches(level, value);
    const found = findLevel(value[0]);
    if (found === undefined)
      throw reject(position, `has the unknown level ${shorten(value[0])}; levels are ${LEVELS.join(', ')}`);
    const rank = LEVELS.indexOf(found);
    return (level) => TESTS[operator](LEVELS.indexOf(level) - rank);
  }
}

/** Whether an operator holds, by the order of two values: below 0 if the first is less. */
export const TESTS: Readonly<Record<Compare['operator'], (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '>=': (order) => order >= 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '<': (order) => order < 0,
};

/** Whether a text has the texts between the wildcards in their order, the first at its start and the last at its end. */
export function matches(text: string, [first, ...rest]: SearchValue): boolean {
  const last = rest.pop() ?? '';
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** Whether a text meets a condition. */
function isFitting(text: string, { operator, value }: Compare): boolean {
  if (value.length > 1) return matches(text, value);
  return TESTS[operator](text === value[0] ? 0 : text < value[0] ? -1 : 1);
}

/** Returns the instant that a condition on `timestamp` names. @throws TailraceError `invalid_parameter` */
export function readTime({ value, position }: Compare): Micros {
  const micros = value.length > 1 ? undefined : parseInstant(value[0]);
  if (micros !== undefined) return micros;
  const given = shorten(value.join('*'));
  throw reject(position, `has ${given} instead of an ISO 8601 timestamp, such as 2026-11-20T07:00:00Z`);
}
