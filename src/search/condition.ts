import { formatInstant } from '../lib/instant.ts';
import { writeValue } from '../sql/quote.ts';
import { guardLike } from '../sql/search-guard.ts';
import { type Compare, findLevels, isFitting, readTime } from './compare.ts';
import type { Fields, Operand } from './field.ts';
import { boundOfInteger, isNumber, spellingsOf, writeRange } from './number.ts';
import { toPattern, writeText } from './text.ts';
import type { SearchTree } from './tree.ts';

const NEVER = '0';
const ALWAYS = '1';

/**
 * Writes the condition of a search that `verifyCondition` accepts, on the rows of one source. Texts of the caller enter
 * it as quoted literals.
 */
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

function writeExists(operand: Operand): string {
  if (operand.kind === 'level') return `${operand.writeRank()} > 0`;
  const { kind, sql } = operand;
  return kind === 'time' || kind === 'constant' ? ALWAYS : `nullIf(toString(${sql}), '') IS NOT NULL`;
}

function writeCompare(clause: Compare, fields: Fields): string {
  const operand = fields.find(clause.field);
  if (operand.kind === 'level') return operand.isOf(findLevels(clause));
  const { kind, sql } = operand;
  if (kind === 'time') return `${sql} ${clause.operator} ${writeValue(formatInstant(readTime(clause)))}`;
  if (kind === 'constant') return isFitting(operand.text, clause) ? ALWAYS : NEVER;
  if (clause.value.length > 1)
    return `${kind === 'text' ? sql : `toString(${sql})`} LIKE ${guardLike(toPattern(clause.value))}`;
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

function writeEqual(
  { kind, sql }: Exclude<Operand, { kind: 'level' }>,
  { value, isQuoted }: Compare,
): string {
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
  return bound === 'never' ? NEVER : `${sql} ${bound.operator} CAST(${writeValue(bound.value)}, 'Int64')`;
}

/** Writes a condition on a column of doubles. */
function writeNumber(sql: string, { operator, value, isQuoted }: Compare): string {
  const [text] = value;
  if (operator === '=' && isQuoted) return `toString(${sql}) = ${writeValue(text)}`;
  return !isNumber(text) ? NEVER : `${sql} ${operator} CAST(${writeValue(text)}, 'Float64')`;
}
