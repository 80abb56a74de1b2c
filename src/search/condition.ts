import { findLevel, LEVELS, type Level } from '../definitions/level.ts';
import { formatInstant, parseInstant } from '../lib/instant.ts';
import { type Bind, column, type Fields, type Operand } from './field.ts';
import { refuse } from './parse.ts';
import type { SearchClause, SearchTree, SearchValue } from './tree.ts';

type Compare = Extract<SearchClause, { kind: 'compare' }>;

/** What a condition is written with. */
interface Writer {
  readonly fields: Fields;
  readonly bind: Bind;
}

const NEVER = '0';
const ALWAYS = '1';

/**
 * The condition of a search on the rows of one source. Texts of the caller enter it through `bind` alone.
 *
 * @throws TailraceError `invalid_parameter` for a value that `level` or `timestamp` cannot have
 */
export function writeCondition(tree: SearchTree, writer: Writer): string {
  switch (tree.kind) {
    case 'and':
    case 'or':
      return `(${tree.items.map((item) => writeCondition(item, writer)).join(tree.kind === 'and' ? ' AND ' : ' OR ')})`;
    case 'not':
      // A field without a value makes a condition NULL, and rows without the field are not equal to anything.
      return `NOT ifNull(${writeCondition(tree.item, writer)}, 0)`;
    case 'text':
      return writeText(tree.value, writer.bind);
    case 'exists':
      return writeExists(writer.fields.find(tree.field));
    case 'compare':
      return writeCompare(tree, writer);
  }
}

/** Letter case counts for none of the letters of the texts; only plain letters have a case if all are ASCII, which is faster. */
function writeText(value: SearchValue, bind: Bind): string {
  const message = column('event_message');
  if (value.length === 1 && value[0] === '') return ALWAYS;
  if (value.every((text) => /^[\0-\x7f]*$/.test(text))) return writePlainText(value, bind);
  if (value.length === 1) return `positionCaseInsensitiveUTF8(${message}, ${bind(value[0])}) > 0`;
  return `lowerUTF8(${message}) LIKE lowerUTF8(${bind(toPattern(['', ...value, '']))})`;
}

/** A text of ASCII alone, in a form for which the engine reads the index of the message (engine/table.ts). */
function writePlainText(value: SearchValue, bind: Bind): string {
  const [text, ...others] = value.map((one) => one.toLowerCase());
  // With escapes, the engine's look-up of a pattern would find too little (sql/search-guard.ts); without any, LIKE is the fastest.
  if (others.length === 0 && text !== undefined && ESCAPED.test(text))
    return `multiSearchAny(${MESSAGE_IN_LOWER_CASE}, [${bind(text)}])`;
  return `${MESSAGE_IN_LOWER_CASE} LIKE ${bind(toPattern(['', text ?? '', ...others, '']))}`;
}

const MESSAGE_IN_LOWER_CASE = `lower(${column('event_message')})`;

function writeExists({ kind, sql }: Operand): string {
  if (kind === 'level') return `${sql} > 0`;
  return kind === 'time' || kind === 'constant' ? ALWAYS : `nullIf(toString(${sql}), '') IS NOT NULL`;
}

function writeCompare(clause: Compare, { fields, bind }: Writer): string {
  const operand = fields.find(clause.field);
  const { operator, value } = clause;
  if (operand.kind === 'level') return operand.isOf(findLevels(clause));
  const { kind, sql } = operand;
  if (kind === 'time') return `${sql} ${operator} ${bind(readTime(clause))}`;
  if (kind === 'constant') return isFitting(operand.text, clause) ? ALWAYS : NEVER;
  if (kind === 'boolean') return writeBoolean(operand, clause, bind);
  if (value.length > 1) return writeLike(operand, value, bind);
  const number = writeNumber(value[0], bind);
  if (kind === 'number') return number === undefined ? NEVER : `${sql} ${operator} ${number}`;
  const asText = `${sql} ${operator} ${bind(value[0])}`;
  if (number === undefined || (kind === 'text' && operator === '=')) return asText;
  const asNumber = `toFloat64OrNull(${sql}) ${operator} ${number}`;
  return operator === '=' ? `(${asText} OR ${asNumber})` : asNumber;
}

function writeLike({ kind, sql }: Operand, value: SearchValue, bind: Bind): string {
  return `${kind === 'text' ? sql : `toString(${sql})`} LIKE ${bind(toPattern(value))}`;
}

function writeBoolean(operand: Operand, { operator, value }: Compare, bind: Bind): string {
  if (value.length > 1) return writeLike(operand, value, bind);
  const isFit = operator === '=' && /^(?:true|false)$/i.test(value[0]);
  return isFit ? `${operand.sql} = ${value[0].toLowerCase()}` : NEVER;
}

/** The levels that are meant, by their names or in their order. */
function findLevels({ operator, value, position }: Compare): readonly Level[] {
  return LEVELS.filter(findTest());

  function findTest(): (level: Level) => boolean {
    if (value.length > 1) return (level) => matches(level, value);
    const found = findLevel(value[0]);
    if (found === undefined)
      throw refuse(position, `has a level that there is not; levels are ${LEVELS.join(', ')}`);
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

const NUMBER = /^-?\d{1,300}(?:\.\d{1,300})?(?:e[+-]?\d{1,3})?$/i;

/** A text as a number in SQL; `undefined` if it is none. Integers stay exact. */
function writeNumber(text: string, bind: Bind): string | undefined {
  if (/^-?\d{1,18}$/.test(text)) return `CAST(${bind(text)}, 'Int64')`;
  return NUMBER.test(text) && Number.isFinite(Number(text)) ? `CAST(${bind(text)}, 'Float64')` : undefined;
}

/** A pattern of LIKE. */
function toPattern(value: readonly string[]): string {
  return value.map((text) => text.replaceAll(new RegExp(ESCAPED, 'g'), '\\$&')).join('%');
}

const ESCAPED = /[\\%_]/;
