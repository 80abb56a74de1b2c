import { remember } from '../lib/remember.ts';
import { writeValue } from '../sql/quote.ts';
import { guardLike, guardPattern } from '../sql/search-guard.ts';
import { column } from './field.ts';
import { casesOf } from './letter.ts';
import type { SearchValue } from './tree.ts';

const MESSAGE = column('event_message');
/** The expression of the index of messages (engine/table.ts). */
const SMALL = `lower(${MESSAGE})`;
// Letters of an entry of the index, which cannot find shorter texts.
const INDEXED_MIN = 4;
const ANY = String.raw`[\s\S]*`;
const ESCAPED = /[\\%_]/;

/** Writes whether a message has the texts in their order, in any letter case. At least one is not empty. The SQL is the same for all sources. */
export const writeText = remember((value: SearchValue) => {
  if (value.every(isAscii)) return writePlain(value);
  const letters = value.map(lettersOf);
  return letters.flat().some(casesOf) ? writeCased(letters) : writePlain(value);
});

const lettersOf = (text: string) => [...text.toWellFormed()];
const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text);

/** Writes the condition for texts in which only ASCII's letters have a case: the index has their small letters. */
function writePlain(value: SearchValue): string {
  const [text = '', ...others] = value.map(toSmall);
  // With escapes, the engine's look-up of a pattern would find too little (sql/search-guard.ts); without any, LIKE is the fastest.
  if (others.length === 0 && ESCAPED.test(text)) return `multiSearchAny(${SMALL}, [${writeValue(text)}])`;
  return `${SMALL} LIKE ${guardLike(likeOf(value))}`;
}

const likeOf = (value: SearchValue) => toPattern(['', ...value.map(toSmall), '']);

/** Returns what the small letters of a message have to be like: a pattern of LIKE, or of `match` for letters beyond ASCII that have a case. */
export function findTextPattern(value: SearchValue): { readonly like: string } | { readonly match: string } {
  const letters = value.map(lettersOf);
  return letters.flat().some(casesOf) ? { match: writePattern(letters) } : { like: likeOf(value) };
}

/**
 * Writes texts with other letters that have a case as a pattern that names each case of each letter: the engine's own functions of letter case find too little
 * (positionCaseInsensitiveUTF8 of 26.7 misses letters whose capital has another length), or change texts by their language's rules. Only messages
 * beyond ASCII can match; the index knows the longest part of ASCII.
 */
function writeCased(letters: readonly (readonly string[])[]): string {
  const runs = letters.flatMap((piece) =>
    piece
      .map((letter) => (casesOf(letter) === undefined ? letter : '\0'))
      .join('')
      .split(/[\0\\%_]+/),
  );
  const longest = runs.reduce((a, b) => (b.length > a.length ? b : a));
  const conditions = [
    ...([...longest].length < INDEXED_MIN ? [] : [`${SMALL} LIKE ${guardLike(`%${toSmall(longest)}%`)}`]),
    `NOT isASCII(${MESSAGE})`,
    `match(${SMALL}, ${guardPattern(writePattern(letters))})`,
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
