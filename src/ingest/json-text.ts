/** A member of a JSON object: its decoded name and the exact text of its value. */
export interface Member {
  readonly name: string;
  readonly text: string;
}

/** Bounds on the JSON of one event; past one of them the event is rejected, never cut. */
export interface JsonLimits {
  /** Deepest nesting, the outermost value being 1. */
  readonly depthMax: number;
  /** Members in all, at every depth. */
  readonly keysMax: number;
  /** Longest name of a member, in characters of its JSON text. */
  readonly keyCharsMax: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Cuts the top-level members of a JSON object out of its text, so that values stay exact: parsing and serializing them would
 * reorder keys that look like numbers and round integers above 2^53.
 *
 * @param text one JSON object, already proven valid by `JSON.parse`
 * @throws RangeError that names the exceeded limit, to complete the sentence "event 3 …"
 */
export function cutMembers(text: string, limits = UNLIMITED): Member[] {
  const members: Member[] = [];
  const walk = { limits, keys: 0 };
  let at = text.indexOf('{') + 1;
  for (
    let nameStart = nextToken(text, at);
    text.charCodeAt(nameStart) === QUOTE;
    nameStart = nextToken(text, at)
  ) {
    const nameEnd = endOfString(text, nameStart);
    countKey(nameEnd - nameStart, walk);
    const valueStart = text.indexOf(':', nameEnd) + 1;
    const valueEnd = endOfValue(text, valueStart, walk);
    members.push({
      name: decode(text.slice(nameStart, nameEnd)),
      text: text.slice(valueStart, valueEnd).trim(),
    });
    at = valueEnd + 1;
  }
  return members;
}

/** Cuts the elements of a JSON array, proven valid by `JSON.parse`, out of its text; see `cutMembers`. */
export function cutElements(text: string): string[] {
  const elements: string[] = [];
  const walk = { limits: UNLIMITED, keys: 0 };
  let at = text.indexOf('[') + 1;
  if (text.charCodeAt(nextToken(text, at)) === CLOSE_BRACKET) return elements;
  while (at < text.length) {
    const end = endOfValue(text, at, walk);
    elements.push(text.slice(at, end).trim());
    if (text.charCodeAt(end) === CLOSE_BRACKET) break;
    at = end + 1;
  }
  return elements;
}

/** No limits, for a list of events: each event is measured when it is parsed. */
const UNLIMITED: JsonLimits = {
  depthMax: Number.POSITIVE_INFINITY,
  keysMax: Number.POSITIVE_INFINITY,
  keyCharsMax: Number.POSITIVE_INFINITY,
};

interface Walk {
  readonly limits: JsonLimits;
  /** Keys so far. */
  keys: number;
}

/** Returns the index of the comma or bracket that ends the value beginning at `start`. */
function endOfValue(text: string, start: number, walk: Walk): number {
  let depth = 1;
  let at = start;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = passString(text, at, walk);
      continue;
    }
    if (depth === 1 && (code === COMMA || isClosing(code))) return at;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if (isClosing(code)) depth--;
    if (depth > walk.limits.depthMax)
      throw new RangeError(`is nested deeper than ${walk.limits.depthMax} levels`);
    at++;
  }
  return at;
}

function isClosing(code: number): boolean {
  return code === CLOSE_BRACE || code === CLOSE_BRACKET;
}

/** Returns the index after a string, which is counted if it is a key. */
function passString(text: string, start: number, walk: Walk): number {
  const end = endOfString(text, start);
  if (text.charCodeAt(nextToken(text, end)) === COLON) countKey(end - start, walk);
  return end;
}

/** Returns the index after the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end + 1;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}

/** Returns the index of the next character that is not white space; JSON has four kinds of it, all below 0x21. */
function nextToken(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) <= 0x20) at++;
  return at;
}

function countKey(quotedLength: number, walk: Walk): void {
  const { limits } = walk;
  if (quotedLength - 2 > limits.keyCharsMax)
    throw new RangeError(`has a key longer than ${limits.keyCharsMax} characters`);
  if (++walk.keys > limits.keysMax) throw new RangeError(`has more than ${limits.keysMax} keys`);
}

function decode(quoted: string): string {
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}
