import { formatInstant } from '../../lib/instant.ts';
import { writeValue } from '../../sql/quote.ts';
import { type Compare, findLevels, isFitting, readTime } from '../compare.ts';
import { boundOfInteger, DECIMAL_DIGITS, isNumber, NUMBER_FORM, spellingsOf, writeBound } from '../number.ts';
import { findTextPattern, toPattern } from '../text.ts';
import type { SearchClause, SearchTree } from '../tree.ts';
import type { Named, Names } from './names.ts';

/** Returns the parameter that has the value of a clause, with its `@`; `undefined` if the SQL has the value itself. */
export type FindParameter = (clause: SearchClause) => string | undefined;

const ALWAYS = 'true';
const NEVER = 'false';

/**
 * Writes the conditions of a search on the rows of one source as a person would, all of which have to hold; `[]` if
 * every row meets them.
 */
export function writeConditions(tree: SearchTree, names: Names, find: FindParameter): readonly string[] {
  const items = tree.kind === 'and' ? tree.items : [tree];
  const written = items.map((item) => write(item, names, find)).filter((one) => one !== ALWAYS);
  return written.includes(NEVER) ? [NEVER] : written;
}

function write(tree: SearchTree, names: Names, find: FindParameter): string {
  switch (tree.kind) {
    case 'and':
    case 'or':
      return writeJoined(
        tree.kind,
        tree.items.map((item) => write(item, names, find)),
      );
    case 'not':
      return writeNot(tree.item, names, find);
    case 'text':
      return writeText(tree, names, '');
    case 'exists':
      return writeExists(names.find(tree.field));
    case 'compare':
      return writeCompare(tree, names.find(tree.field), find(tree));
  }
}

function writeJoined(kind: 'and' | 'or', items: readonly string[]): string {
  const [neutral, decisive] = kind === 'and' ? [ALWAYS, NEVER] : [NEVER, ALWAYS];
  if (items.includes(decisive)) return decisive;
  const rest = items.filter((item) => item !== neutral);
  const [first = neutral] = rest;
  return rest.length < 2 ? first : `(${rest.join(kind === 'and' ? ' AND ' : ' OR ')})`;
}

/** A field without a value makes a condition NULL, and rows without the field are not equal to anything. */
function writeNot(item: SearchTree, names: Names, find: FindParameter): string {
  if (item.kind === 'not' && item.item.kind === 'not') return writeNot(item.item.item, names, find);
  if (item.kind === 'text') return writeText(item, names, 'NOT ');
  const written = write(item, names, find);
  if (written === ALWAYS || written === NEVER) return written === ALWAYS ? NEVER : ALWAYS;
  return `NOT ifNull(${written}, false)`;
}

function writeText({ value }: Extract<SearchClause, { kind: 'text' }>, names: Names, not: string): string {
  if (value.every((text) => text === '')) return not === '' ? ALWAYS : NEVER;
  const pattern = findTextPattern(value);
  const message = `lower(${names.column('event_message')})`;
  if ('match' in pattern) return `${not}match(${message}, ${writeValue(pattern.match)})`;
  return `${message} ${not}LIKE ${writeValue(pattern.like)}`;
}

function writeExists(named: Named): string {
  const { kind, sql } = named;
  if (kind === 'time' || kind === 'constant') return ALWAYS;
  return kind === 'text' || kind === 'json' ? `${sql} != ''` : `${sql} IS NOT NULL`;
}

function writeCompare(clause: Compare, named: Named, parameter: string | undefined): string {
  if (named.kind === 'level') return named.isOf(findLevels(clause));
  const { kind, sql } = named;
  const { operator, value } = clause;
  if (kind === 'time') return `${sql} ${operator} ${writeValue(formatInstant(readTime(clause)))}`;
  if (kind === 'constant') return isFitting(named.text, clause) ? ALWAYS : NEVER;
  if (parameter !== undefined) return `${sql} ${operator} ${parameter}`;
  if (value.length > 1) return `${toText(named)} LIKE ${writeValue(toPattern(value))}`;
  if (kind === 'boolean') return writeBoolean(sql, clause);
  if (kind === 'integer') return writeInteger(sql, clause);
  return kind === 'number' ? writeNumber(sql, clause) : writeTextCompare(named, clause);
}

/** Writes the text of a value. */
export function toText({ kind, sql }: Named): string {
  return ['integer', 'number', 'boolean', 'time'].includes(kind) ? `toString(${sql})` : sql;
}

function writeNumber(sql: string, { operator, value: [text], isQuoted }: Compare): string {
  if (operator === '=' && isQuoted) return `toString(${sql}) = ${writeValue(text)}`;
  return isNumber(text) ? `${sql} ${operator} ${writeDouble(text)}` : NEVER;
}

function writeTextCompare(named: Named, clause: Compare): string {
  const { sql } = named;
  const { operator, value, isQuoted } = clause;
  const [text] = value;
  if (operator === '=') return writeEqual(named, clause);
  return !isQuoted && isNumber(text)
    ? writeBound({ exact: writeExact(sql), double: writeToNumber(sql) }, operator, text)
    : `${sql} ${operator} ${writeValue(text)}`;
}

/** Writes a number; the engine reads digits of any length as those of a double. */
function writeDouble(text: string): string {
  return /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? text : `CAST(${writeValue(text)}, 'Float64')`;
}

function writeEqual({ kind, sql }: Named, { value: [text], isQuoted }: Compare): string {
  const texts = kind === 'json' && !isQuoted ? spellingsOf(text) : [text];
  return texts.length === 1
    ? `${sql} = ${writeValue(text)}`
    : `${sql} IN (${texts.map(writeValue).join(', ')})`;
}

function writeBoolean(sql: string, { operator, value: [text], isQuoted }: Compare): string {
  const wanted = isQuoted ? text : text.toLowerCase();
  return operator === '=' && ['true', 'false'].includes(wanted) ? `${sql} = ${wanted}` : NEVER;
}

function writeInteger(sql: string, clause: Compare): string {
  const bound = boundOfInteger(clause);
  if (bound === 'always') return `${sql} IS NOT NULL`;
  return bound === 'never' ? NEVER : `${sql} ${bound.operator} ${bound.value}`;
}

const FORM = `extract(text, ${writeValue(NUMBER_FORM)})`;

/** Members of WITH for numbers in texts and in JSON, each with its comment; a query has those that it names. */
const MEMBERS: Readonly<Record<string, { readonly comment: string; readonly sql: string }>> = {
  to_number: {
    comment: 'The number that a text is, as JSON writes numbers; NULL for any other text.',
    sql: `text -> nullIf(nullIf(toFloat64OrNull(${FORM}), inf), -inf)`,
  },
  to_exact: {
    comment: 'The same as a decimal; NULL for 0, since a smaller number may have become it.',
    sql: `text -> nullIf(toDecimal256OrNull(${FORM}, ${DECIMAL_DIGITS}), 0)`,
  },
};

export const writeToNumber = (sql: string) => `to_number(${sql})`;
const writeExact = (sql: string) => `to_exact(${sql})`;

/** Lists the members that a text names. */
export function listMembers(sql: string): readonly string[] {
  return Object.entries(MEMBERS)
    .filter(([name]) => sql.includes(`${name}(`))
    .map(([name, member]) => `-- ${member.comment}\n  ${member.sql} AS ${name}`);
}
