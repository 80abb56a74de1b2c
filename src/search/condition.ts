import { findLevel, LEVELS, type Level } from '../definitions/level.ts';
import { formatInstant, parseInstant } from '../lib/instant.ts';
import { writeValue } from '../sql/quote.ts';
import { guardText } from '../sql/search-guard.ts';
import type { Fields, Operand } from './field.ts';
import { floorOf, isNumber, spellingsOf, writeRange } from './number.ts';
import { refuse } from './parse.ts';
import { toPattern, writeText } from './text.ts';
import type { SearchClause, SearchTree, SearchValue } from './tree.ts';

type Compare = Extract<SearchClause, { kind: 'compare' }>;

const NEVER = '0';
const ALWAYS = '1';

/** Writes the condition of a search that `verifyCondition` accepts, on the rows of one source. Texts of the caller enter it as quoted literals. */
export function writeCondition(tree: SearchTree, fields: Fields): string {
  switch (tree.kind) {
    case 'and':
    case 'or':
      return `(${tree.items.map((item) => writeCondition(item, fields)).join(tree.kind === 'and' ? ' AND ' : ' OR ')})`;
    case 'not':
      // A field without a value makes a condition NULL, and rows without the field are not equal to anything.
      return `NOT ifNull(${writeCondition(tree.item, fields)}, 0)`;
    case 'text':
      return tree.value.every((text) => text === '') ? ALWAYS : writeText(tree.value);
    case 'exists':
      return writeExists(fields.find(tree.field));
    case 'compare':
      return writeCompare(tree, fields);
  }
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

function writeExists({ kind, sql }: Operand): string {
  if (kind === 'level') return `${sql} > 0`;
  return kind === 'time' || kind === 'constant' ? ALWAYS : `nullIf(toString(${sql}), '') IS NOT NULL`;
}

function writeCompare(clause: Compare, fields: Fields): string {
  const operand = fields.find(clause.field);
  const { kind, sql } = operand;
  if (kind === 'level') return operand.isOf(findLevels(clause));
  if (kind === 'time') return `${sql} ${clause.operator} ${writeValue(readTime(clause))}`;
  if (kind === 'constant') return isFitting(operand.text, clause) ? ALWAYS : NEVER;
  if (clause.value.length > 1)
    return `${kind === 'text' ? sql : `toString(${sql})`} LIKE ${guardText('like', toPattern(clause.value))}`;
  if (kind === 'boolean') return writeBoolean(sql, clause);
  if (kind === 'integer') return writeInteger(sql, clause);
  if (kind === 'number') return writeNumber(sql, clause);
  if (clause.operator === '=') return writeEqual(operand, clause);
  const [text] = clause.value;
  const isOfNumbers = !clause.isQuoted && isNumber(text);
  return isOfNumbers
    ? writeRange(fields.findForm(sql), clause.operator, text)
    : `${sql} ${clause.operator} ${writeValue(text)}`;
}

function writeEqual({ kind, sql }: Operand, { value, isQuoted }: Compare): string {
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

const INTEGER_MIN = -(2n ** 63n);
const INTEGER_MAX = 2n ** 63n - 1n;

/** Writes a condition on a column of integers. A bound between two integers is rounded down, and its operator changed accordingly. */
function writeInteger(sql: string, { operator, value, isQuoted }: Compare): string {
  const [text] = value;
  const number = floorOf(text);
  if (number === undefined) return NEVER;
  const { floor, isWhole } = number;
  if (operator === '=' && (!isWhole || (isQuoted && text !== String(floor)))) return NEVER;
  const isAbove = operator.startsWith('>');
  if (floor < INTEGER_MIN || floor > INTEGER_MAX) {
    const isBeyond = operator !== '=' && isAbove === floor < INTEGER_MIN;
    return isBeyond ? `${sql} IS NOT NULL` : NEVER;
  }
  const bound = isWhole ? operator : isAbove ? '>' : '<=';
  return `${sql} ${bound} CAST(${writeValue(String(floor))}, 'Int64')`;
}

/** Writes a condition on a column of doubles. */
function writeNumber(sql: string, { operator, value, isQuoted }: Compare): string {
  const [text] = value;
  if (operator === '=' && isQuoted) return `toString(${sql}) = ${writeValue(text)}`;
  return !isNumber(text) ? NEVER : `${sql} ${operator} CAST(${writeValue(text)}, 'Float64')`;
}

/** Returns the levels that are meant, by their names or in their order. */
function findLevels({ operator, value, position }: Compare): readonly Level[] {
  return LEVELS.filter(findTest());

  function findTest(): (level: Level) => boolean {
    if (value.length > 1) return (level) => matches(level, value);
    const found = findLevel(value[0]);
    if (found === undefined) throw refuse(position, `has an unknown level; levels are ${LEVELS.join(', ')}`);
    const rank = LEVELS.indexOf(found);
    return (level) => TESTS[operator](LEVELS.indexOf(level) - rank);
  }
}

const TESTS: Readonly<Record<Compare['operator'], (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '>=': (order) => order >= 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '<': (order) => order < 0,
};

function isFitting(text: string, { operator, value }: Compare): boolean {
  if (value.length > 1) return matches(text, value);
  return TESTS[operator](text === value[0] ? 0 : text < value[0] ? -1 : 1);
}

/** Whether a text has the texts between the wildcards in their order, the first at its start and the last at its end. */
function matches(text: string, [first, ...rest]: SearchValue): boolean {
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

function readTime({ value, position }: Compare): string {
  const micros = value.length > 1 ? undefined : parseInstant(value[0]);
  if (micros !== undefined) return formatInstant(micros);
  throw refuse(position, 'needs an ISO 8601 timestamp here, such as 2026-11-20T07:00:00Z');
}
