import { findLevel, LEVELS, type Level } from '../definitions/level.ts';
import { formatInstant, type Micros, parseInstant } from '../lib/instant.ts';
import { shorten } from '../query/parameters.ts';
import { writeValue } from '../sql/sql.ts';
import { boundOfInteger, isNumber, spellingsOf, writeBound } from './comparison.ts';
import type { Fields, Operand } from './field.ts';
import { type Compare, listClauses, reject, type SearchTree, type SearchValue } from './parse.ts';

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
  for (const clause of listClauses(tree)) {
    if (clause.kind !== 'compare' || clause.field.length > 1) continue;
    const [name] = clause.field;
    if (name === 'level') findLevels(clause);
    if (name === 'timestamp') readTime(clause);
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
  const parameter = fields.findParameter?.(clause);
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
  if (value.length > 1) return LEVELS.filter((level) => matches(level, value));
  const found = findLevel(value[0]);
  if (found === undefined)
    throw reject(position, `has the unknown level ${shorten(value[0])}; levels are ${LEVELS.join(', ')}`);
  const rank = LEVELS.indexOf(found);
  return LEVELS.filter((_, i) => TESTS[operator](i - rank));
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
export function isFitting(text: string, { operator, value }: Compare): boolean {
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

// Letters of an entry of the index, which cannot find shorter texts.
const INDEXED_MIN = 4;
const ANY = String.raw`[\s\S]*`;
const ESCAPED = /[\\%_]/;

/** Writes whether a message has the texts in their order, in any letter case. At least one is not empty. */
function writeText(value: SearchValue, fields: Fields): string {
  const message = fields.column('event_message');
  const small = `lower(${message})`; // the expression of the index of messages (engine/table.ts)
  const letters = value.map((text) => [...text.toWellFormed()]);
  if (!value.every(isAscii) && letters.flat().some(casesOf)) return writeCased(letters, message, fields);
  const [text = '', ...others] = value.map(toSmall);
  // With escapes, the engine's look-up of a pattern would find too little (sql/search-guard.ts); without any, LIKE is
  // the fastest.
  if (others.length === 0 && ESCAPED.test(text)) return `multiSearchAny(${small}, [${writeValue(text)}])`;
  return `${small} LIKE ${fields.like(toPattern(['', text, ...others, '']))}`;
}

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text);

/**
 * Writes texts with other letters that have a case as a pattern that names each case of each letter: the engine's own
 * functions of letter case find too little (positionCaseInsensitiveUTF8 of 26.7 misses letters whose capital has
 * another length), or change texts by their language's rules. Only messages beyond ASCII can match; the index knows the
 * longest part of ASCII.
 */
function writeCased(letters: readonly (readonly string[])[], message: string, fields: Fields): string {
  const small = `lower(${message})`;
  const runs = letters.flatMap((piece) =>
    piece
      .map((letter) => (casesOf(letter) === undefined ? letter : '\0'))
      .join('')
      .split(/[\0\\%_]+/),
  );
  const longest = runs.reduce((a, b) => (b.length > a.length ? b : a));
  const pattern = letters.map((piece) => piece.map(writeLetter).join('')).join(ANY);
  const conditions = [
    ...([...longest].length < INDEXED_MIN ? [] : [`${small} LIKE ${fields.like(`%${toSmall(longest)}%`)}`]),
    `NOT isASCII(${message})`,
    `match(${small}, ${fields.match(pattern)})`,
  ];
  return `(${conditions.join(' AND ')})`;
}

function writeLetter(letter: string): string {
  const cases = casesOf(letter);
  if (cases !== undefined) return `[${cases}]`;
  if (letter === '\0') return String.raw`\x00`;
  return /^[!-/:-@[-`{-~]$/.test(letter) ? `\\${letter}` : toSmall(letter);
}

/** Lowers letters as the engine's `lower` does. */
function toSmall(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

/** A pattern of LIKE. */
function toPattern(value: readonly string[]): string {
  return value.map((text) => text.replaceAll(/[\\%_]/g, '\\$&')).join('%');
}

// No letter beyond the second plane has another case.
const LETTERS = 0x2_0000;

/**
 * Returns the letters that a letter of a search stands for, including itself, as one text; `undefined` for ASCII and
 * for letters without another case.
 *
 * Two letters are the same if their small letters have the same capital: `σ`, `ς` and `Σ`; `ǆ`, `ǅ` and `Ǆ`; `å`,
 * `Å` and the sign of the angstrom; `ß` and `ẞ`, but not `ss`. No letter beyond ASCII equals one of ASCII, so that the
 * index, which knows the small letters of ASCII, finds every message with a text of ASCII: `İ`, `ı`, `ſ` and the sign
 * of the kelvin are only themselves.
 */
export function casesOf(letter: string): string | undefined {
  letters ??= groupLetters();
  return letters.get(letter);
}

// Created, in some milliseconds, at the first letter beyond ASCII: most searches have none.
let letters: ReadonlyMap<string, string> | undefined;

function groupLetters(): ReadonlyMap<string, string> {
  const all = Array.from({ length: LETTERS }, (_, code) => String.fromCodePoint(code)).join('');
  const cased = all.match(/(?![\0-\x7f])\p{Changes_When_Casemapped}/gu) ?? [];
  const groups = Map.groupBy(cased, capitalOf);
  const found = [...groups.values()].filter((group) => group.length > 1);
  return new Map(found.flatMap((group) => group.map((letter) => [letter, group.join('')] as const)));
}

/** Returns the capital of a letter; it may be several letters. */
function capitalOf(letter: string): string {
  const capital = letter.toLowerCase().toUpperCase();
  return /^[\0-\x7f]$/.test(capital) ? letter : capital;
}
