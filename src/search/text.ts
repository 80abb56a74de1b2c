import { writeValue } from '../sql/sql.ts';
import type { Fields } from './field.ts';
import type { SearchValue } from './tree.ts';

// Letters of an entry of the index, which cannot find shorter texts.
const INDEXED_MIN = 4;
const ANY = String.raw`[\s\S]*`;
const ESCAPED = /[\\%_]/;

/** Writes whether a message has the texts in their order, in any letter case. At least one is not empty. */
export function writeText(value: SearchValue, fields: Fields): string {
  const message = fields.column('event_message');
  const small = `lower(${message})`; // the expression of the index of messages (engine/table.ts)
  const letters = value.map((text) => [...text.toWellFormed()]);
  if (!value.every(isAscii) && letters.flat().some(casesOf))
    return writeCased(letters, { message, small, fields });
  const [text = '', ...others] = value.map(toSmall);
  // With escapes, the engine's look-up of a pattern would find too little (sql/search-guard.ts); without any, LIKE is
  // the fastest.
  if (others.length === 0 && ESCAPED.test(text)) return `multiSearchAny(${small}, [${writeValue(text)}])`;
  return `${small} LIKE ${fields.like(toPattern(['', text, ...others, '']))}`;
}

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text);

interface Message {
  readonly message: string;
  readonly small: string;
  readonly fields: Fields;
}

/**
 * Writes texts with other letters that have a case as a pattern that names each case of each letter: the engine's own
 * functions of letter case find too little (positionCaseInsensitiveUTF8 of 26.7 misses letters whose capital has
 * another length), or change texts by their language's rules. Only messages beyond ASCII can match; the index knows the
 * longest part of ASCII.
 */
function writeCased(letters: readonly (readonly string[])[], { message, small, fields }: Message): string {
  const runs = letters.flatMap((piece) =>
    piece
      .map((letter) => (casesOf(letter) === undefined ? letter : '\0'))
      .join('')
      .split(/[\0\\%_]+/),
  );
  const longest = runs.reduce((a, b) => (b.length > a.length ? b : a));
  const conditions = [
    ...([...longest].length < INDEXED_MIN ? [] : [`${small} LIKE ${fields.like(`%${toSmall(longest)}%`)}`]),
    `NOT isASCII(${message})`,
    `match(${small}, ${fields.match(writePattern(letters))})`,
  ];
  return `(${conditions.join(' AND ')})`;
}

function writePattern(letters: readonly (readonly string[])[]): string {
  return letters.map((piece) => piece.map(writeLetter).join('')).join(ANY);
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
export function toPattern(value: readonly string[]): string {
  return value.map((text) => text.replaceAll(/[\\%_]/g, '\\$&')).join('%');
}

// Letters of a plane; no letter beyond the second plane has another case.
const PLANE = 0x1_0000;

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
  const groups = Map.groupBy(listCased(), capitalOf);
  const found = [...groups.values()].filter((group) => group.length > 1);
  return new Map(found.flatMap((group) => group.map((letter) => [letter, group.join('')] as const)));
}

/** Letters beyond ASCII that have another case. */
function listCased(): readonly string[] {
  const plane = Uint16Array.from({ length: PLANE }, (_, code) => code);
  const second = new Uint16Array(2 * PLANE).map(
    (_, i) => 0xd800 + (i % 2 === 0 ? i >> 11 : 0x400 + ((i >> 1) & 0x3ff)),
  );
  const text = [plane, second].map((units) => Buffer.from(units.buffer).toString('utf16le')).join('');
  return text.match(/(?![\0-\x7f])\p{Changes_When_Casemapped}/gu) ?? [];
}

/** Returns the capital of a letter; it may be several letters. */
function capitalOf(letter: string): string {
  const capital = letter.toLowerCase().toUpperCase();
  return /^[\0-\x7f]$/.test(capital) ? letter : capital;
}
