import { TailraceError } from '../errors.ts';
import { remember } from '../lib/single-flight.ts';
import { rejectParameter, shorten } from '../query/parameters.ts';

/** A parsed search. `and` and `or` have at least two items; `EVERYTHING` has none. */
export type SearchTree =
  | { readonly kind: 'and' | 'or'; readonly items: readonly SearchTree[] }
  | { readonly kind: 'not'; readonly item: SearchTree }
  | SearchClause;

/** The search that finds every event. */
export const EVERYTHING: SearchTree = { kind: 'and', items: [] };

/** One condition of a search. Positions are UTF-16 units from the start of the text. */
export type SearchClause =
  | { readonly kind: 'text'; readonly value: SearchValue }
  | { readonly kind: 'exists'; readonly field: SearchField; readonly position: number }
  | Compare;

/** A condition on the value of a field. */
export interface Compare {
  readonly kind: 'compare';
  readonly field: SearchField;
  readonly operator: SearchOperator;
  readonly value: SearchValue;
  /** Whether the value was in quotes, and so means exactly this text. */
  readonly isQuoted: boolean;
  /** Position of the value. */
  readonly position: number;
}

export type SearchOperator = '=' | '>=' | '<=' | '>' | '<';

/** Member names of a path. */
export type SearchField = readonly [string, ...string[]];

/** A text, or the texts between wildcards: `/rest/*` is `/rest/` and an empty text. */
export type SearchValue = readonly [string, ...string[]];

/** A bare word with a special meaning; as a text it needs quotes. */
export const KEYWORD = /^(?:and|or|not)$/i;

const SPACE = /\s+/y;

/** The characters that end a bare word. */
const BARE = /[^\s()"]+/y;

/** A field and its colon. Segments in quotes may have any character. */
const FIELD = /(?:"(?:[^"\\]|\\[\s\S])*"|[^\s()":.*]+)(?:\.(?:"(?:[^"\\]|\\[\s\S])*"|[^\s()":.*]+))*:/y;

/** Only `\"` and `\\` are escapes within quotes: other backslashes stand for themselves. */
function unquoteText(quoted: string): string {
  return quoted.slice(1, -1).replaceAll(/\\(["\\])/g, '$1');
}

export function quoteText(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** Lists the conditions of a search. */
export function listClauses(tree: SearchTree): readonly SearchClause[] {
  if ('items' in tree) return tree.items.flatMap(listClauses);
  return tree.kind === 'not' ? listClauses(tree.item) : [tree];
}

/** Lists the fields that the conditions of a search name, as often as they do. */
export function listNamed(tree: SearchTree): readonly SearchField[] {
  return listClauses(tree).flatMap((clause) => (clause.kind === 'text' ? [] : [clause.field]));
}

export const printField = remember((field: SearchField) =>
  field.map((name) => (/^[^\s()":.*-][^\s()":.*]*$/.test(name) ? name : quoteText(name))).join('.'),
);

/** The parameter that holds a search. */
export const SEARCH_PARAMETER = 'q';

// Deeper nesting helps no one, and each level takes frames of the stack, here and in the engine's parser.
const DEPTH_MAX = 50;
// Longest text that the engine finds by a pattern with both cases of each letter. From a thousand letters on, RE2 needs
// more states than it remembers, and takes minutes instead of a second.
const CASED_CHARS_MAX = 512;
// The engine reads a path of a thousand names, in each event of each source, for seconds.
const NAMES_MAX = 32;
// A condition on a path of so many names takes the engine at most twice the time of one on a single name.
const NAMES_PER_TERM = 4;

/** A text being parsed. */
interface Reader {
  readonly text: string;
  /** UTF-16 units. */
  at: number;
  clauses: number;
  readonly clausesMax: number;
}

/**
 * Parses a search: words and `"phrases"`, `field:value`, `-`, `not`, `and`, `or` and parentheses. `and` binds closer
 * than `or`. Takes time linear in the length of the text.
 *
 * @returns `EVERYTHING` for an empty text
 * @throws TailraceError `invalid_parameter` with the `position` of the fault
 */
export function parseSearch(text: string, clausesMax: number): SearchTree {
  const reader: Reader = { text, at: 0, clauses: 0, clausesMax };
  take(reader, SPACE);
  if (reader.at === text.length) return EVERYTHING;
  const tree = readOr(reader, 0);
  if (reader.at < text.length)
    throw reject(reader.at, 'has ) without (; remove it, or put the text in quotes');
  return tree;
}

/** Parses the path of a field, such as `request.path`. @throws TailraceError `invalid_parameter` */
export function parseField(text: string, parameter: string): SearchField {
  const field = matchAt(FIELD, `${text}:`, 0) === `${text}:` ? readSegments(text) : undefined;
  if (field !== undefined && field.length <= NAMES_MAX) return field;
  const message =
    `must be a field of at most ${NAMES_MAX} names, such as level or request.path; names with ` +
    'other characters are in quotes';
  throw rejectParameter(parameter, message);
}

/** Returns the error of a search. @param position UTF-16 units from its start */
export function reject(position: number, message: string) {
  const fault = { parameter: SEARCH_PARAMETER, message: `${message} (position ${position})`, position };
  return new TailraceError('invalid_parameter', `the search ${fault.message}`, { errors: [fault] });
}

function readOr(reader: Reader, depth: number): SearchTree {
  const items = [readAnd(reader, depth)];
  while (takeKeyword(reader, 'or')) items.push(readAnd(reader, depth));
  return join('or', items);
}

function readAnd(reader: Reader, depth: number): SearchTree {
  const items = [readTerm(reader, depth)];
  while (takeKeyword(reader, 'and') || !(isAtEnd(reader) || peekKeyword(reader) === 'or'))
    items.push(readTerm(reader, depth));
  return join('and', items);
}

function join(kind: 'and' | 'or', items: readonly SearchTree[]): SearchTree {
  const [first] = items;
  return first !== undefined && items.length === 1 ? first : { kind, items };
}

function readTerm(reader: Reader, depth: number): SearchTree {
  const { text, at } = reader;
  if (depth > DEPTH_MAX) throw reject(at, `is nested more than ${DEPTH_MAX} deep; use fewer parentheses`);
  if (takeKeyword(reader, 'not')) return { kind: 'not', item: readTerm(reader, depth + 1) };
  if (text[at] === '-') {
    reader.at++;
    if (/^[\s)]?$/.test(text[at + 1] ?? ''))
      throw reject(at, 'has - without a term; write it directly before one, as in -word, or in quotes');
    return { kind: 'not', item: readTerm(reader, depth + 1) };
  }
  if (text[at] === '(') return readGroup(reader, depth);
  const keyword = peekKeyword(reader);
  if (isAtEnd(reader) || keyword !== undefined)
    throw reject(at, `needs a term ${describePlace(text, at, keyword)}`);
  return readClause(reader);
}

function describePlace(text: string, at: number, keyword: string | undefined): string {
  if (keyword !== undefined) return `before "${keyword}"; to search for the word, put it in quotes`;
  const last = /(\S+)\s*$/.exec(text.slice(Math.max(0, at - 20), at))?.[1];
  const where = text[at] === ')' ? 'before )' : 'at its end';
  return last === undefined ? where : `${where}, after ${last}`;
}

function readGroup(reader: Reader, depth: number): SearchTree {
  const { at } = reader;
  take(reader, /\(\s*/y);
  const tree = readOr(reader, depth + 1);
  if (take(reader, /\)\s*/y) !== undefined) return tree;
  throw reject(at, 'has ( without ); close it, or put the text in quotes');
}

function readClause(reader: Reader): SearchTree {
  const { at } = reader;
  countTerms(reader, 1, at);
  const named = take(reader, FIELD);
  const tree = named === undefined ? readText(reader) : readFieldClause(reader, named, at);
  take(reader, SPACE);
  return tree;
}

/** Counts what takes the engine time: conditions, the texts between wildcards, and the names of long paths. */
function countTerms(reader: Reader, count: number, at: number): void {
  reader.clauses += count;
  if (reader.clauses <= reader.clausesMax) return;
  const counted = `texts between * and each ${NAMES_PER_TERM} names of a field counted`;
  throw reject(at, `has more than ${reader.clausesMax} terms, ${counted}; search for fewer`);
}

function readText(reader: Reader): SearchClause {
  const { text, at } = reader;
  const value: SearchValue = text[at] === '"' ? [readQuoted(reader)] : readWord(reader);
  const read = text.slice(at, reader.at);
  if (read.length > CASED_CHARS_MAX && /[^\0-\x7f]/.test(read))
    throw reject(
      at,
      `has a text of more than ${CASED_CHARS_MAX} characters, not all of them ASCII; search for a part`,
    );
  return { kind: 'text', value };
}

function readWord(reader: Reader): SearchValue {
  const { at } = reader;
  const word = take(reader, BARE) ?? '';
  const colon = word.indexOf(':');
  if (colon !== -1)
    throw reject(
      at + colon,
      `has : in ${shorten(word)} after something that is not a field, whose names are joined by ` +
        'dots and have no *; put a text with a colon in quotes',
    );
  return toValue(reader, word, at);
}

/** @param at the position of the field, whose name was read with its colon */
function readFieldClause(reader: Reader, named: string, at: number): SearchTree {
  const field = readSegments(named.slice(0, -1));
  if (field.length > NAMES_MAX)
    throw reject(at, `has a field of ${field.length} names; it may have ${NAMES_MAX}`);
  countTerms(reader, Math.floor((field.length - 1) / NAMES_PER_TERM), at);
  const operator = (take(reader, /[<>]=?/y) ?? '=') as SearchOperator; // the pattern matches only these
  const { text, at: position } = reader;
  if (text[position] === '"')
    return { kind: 'compare', field, operator, value: [readQuoted(reader)], isQuoted: true, position };
  if (text[position] === '(')
    throw reject(position, `has ( as a value; repeat the field, as in (${named}a or ${named}b)`);
  const word = take(reader, BARE);
  if (word === undefined)
    throw reject(
      position,
      `needs a value directly after ${named}${operator === '=' ? '' : operator}, such as 500, /rest/* or "two words"`,
    );
  const value = toValue(reader, word, position);
  if (operator !== '=' && value.length > 1)
    throw reject(
      position,
      `has * in ${shorten(word)} after ${operator}, which takes a value without wildcards`,
    );
  if (operator === '=' && /^\*+$/.test(word)) return { kind: 'exists', field, position: at };
  return { kind: 'compare', field, operator, value, isQuoted: false, position };
}

function readSegments(text: string): SearchField {
  const [first = '', ...rest] = text.match(/"(?:[^"\\]|\\[\s\S])*"|[^".]+/g) ?? [];
  const read = (name: string) => (name.startsWith('"') ? unquoteText(name) : name);
  return [read(first), ...rest.map(read)];
}

/** Reads a phrase from its opening quote on. */
function readQuoted(reader: Reader): string {
  const quoted = take(reader, /"(?:[^"\\]|\\[\s\S])*"/y);
  if (quoted !== undefined) return unquoteText(quoted);
  throw reject(reader.at, 'has " without an end; close it, or write \\" for a quote within quotes');
}

function toValue(reader: Reader, word: string, at: number): SearchValue {
  const [first = '', ...rest] = word.split(/\*+/);
  countTerms(reader, Math.max(0, [first, ...rest].filter((text) => text !== '').length - 1), at);
  return [first, ...rest];
}

function isAtEnd({ text, at }: Reader): boolean {
  return at === text.length || text[at] === ')';
}

function peekKeyword({ text, at }: Reader): string | undefined {
  const word = matchAt(BARE, text, at);
  return word !== undefined && KEYWORD.test(word) ? word.toLowerCase() : undefined;
}

function takeKeyword(reader: Reader, keyword: string): boolean {
  if (peekKeyword(reader) !== keyword) return false;
  reader.at += keyword.length;
  take(reader, SPACE);
  return true;
}

/** @param pattern sticky */
function take(reader: Reader, pattern: RegExp): string | undefined {
  const found = matchAt(pattern, reader.text, reader.at);
  reader.at += found?.length ?? 0;
  return found;
}

/** @param pattern sticky */
function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
