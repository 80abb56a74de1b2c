import { readString } from '../json/grammar.ts';
import { cutMembers, type Member } from '../json/text.ts';

// The engine reads integers of 64 bits, and no JSON that has larger ones, or half a surrogate pair.
const SUSPECT = /\d{19}|\\u[dD][89a-fA-F]|\d{3}\.?\d*[eE]\+?\d|[eE]\+?\d{2}/;
const UNSIGNED_MAX = 2n ** 64n - 1n;
const SIGNED_MIN = -(2n ** 63n);

/**
 * Reads the value at a path of a JSON text as the engine's JSONExtractRaw does: a text, or the JSON of any other value; of equal names
 * the first.
 *
 * @returns `undefined` for null, without a value, and for JSON that the engine does not read
 */
export function readJsonText(json: string, path: readonly string[]): string | undefined {
  if (last.json !== json) last = { json, members: new Map(), isReadable: undefined };
  const value = findJson(json, path);
  if (value === undefined || value === 'null') return undefined;
  last.isReadable ??= !SUSPECT.test(json) || isReadable(json);
  if (!last.isReadable) return undefined;
  if (value.startsWith('"')) return readString(value);
  return /^[[{]/.test(value) ? writeJson(value) : writeNumber(value);
}

/** What was read of the last text: the terms of a search read one event after another. */
let last: {
  readonly json: string;
  readonly members: Map<string, readonly Member[]>;
  isReadable: boolean | undefined;
} = { json: '', members: new Map(), isReadable: undefined };

function cutOnce(text: string): readonly Member[] {
  const members = last.members.get(text) ?? cutMembers(text);
  last.members.set(text, members);
  return members;
}

function findJson(json: string, path: readonly string[]): string | undefined {
  let text: string | undefined = json;
  for (const name of path) {
    if (text === undefined || !/^\s*\{/.test(text)) return undefined;
    text = cutOnce(text).find((member) => member.name === name)?.text;
  }
  return text;
}

/** Whether the engine reads a JSON text. */
function isReadable(json: string): boolean {
  let readable = true;
  JSON.parse(json, function check(name: string, value: unknown, context?: { readonly source?: string }) {
    if (typeof value === 'number') readable &&= isReadableNumber(context?.source ?? '');
    else if (typeof value === 'string') readable &&= value.isWellFormed();
    readable &&= name.isWellFormed();
    return value;
  });
  return readable;
}

function isReadableNumber(source: string): boolean {
  if (!/^-?\d+$/.test(source)) return Number.isFinite(Number(source));
  const integer = BigInt(source);
  return integer >= SIGNED_MIN && integer <= UNSIGNED_MAX;
}

const TOKENS = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|-?\d[\d.eE+-]*|\s+/g;

function writeJson(json: string): string {
  return json.replace(TOKENS, (token) => {
    if (token.startsWith('"')) return JSON.stringify(readString(token));
    return /^\s/.test(token) ? '' : writeNumber(token);
  });
}

/** Writes a number, true or false as the engine does: an integer by its digits, any other number as a double. */
function writeNumber(source: string): string {
  if (!/^-?\d/.test(source)) return source;
  if (/^-?\d+$/.test(source)) return source === '-0' ? '0' : source;
  const double = Number(source);
  return Object.is(double, -0) ? '-0' : String(double).replace('e+', 'e');
}

const VALUES = /("[^"\\]*(?:\\[\s\S][^"\\]*)*")(\s*:)?|-?\d[\d.eE+-]*/g;

/** Replaces texts and numbers of a JSON text, but not the names of members. A number that changes becomes a text. */
export function replaceInStrings(json: string, replace: (text: string) => string): string {
  return json.replaceAll(VALUES, (token, quoted: string | undefined, colon: string | undefined) => {
    if (colon !== undefined) return token;
    const text = quoted === undefined ? token : readString(quoted);
    const changed = replace(text);
    return changed === text ? token : JSON.stringify(changed);
  });
}
