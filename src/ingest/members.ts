/** A member of a JSON object: its decoded name and the exact text of its value. */
export interface Member {
  readonly name: string;
  readonly text: string;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * Cuts the top-level members of a JSON object out of its text, so that a value can be kept exactly: parsing and writing it
 * again would reorder keys that look like numbers and round integers above 2^53.
 *
 * @param text one JSON object, already proven valid by `JSON.parse`
 * @param depthMax deepest nesting allowed, the object itself being 1
 * @throws RangeError when the text is nested deeper
 */
export function cutMembers(text: string, depthMax: number): Member[] {
  const members: Member[] = [];
  let at = text.indexOf('{') + 1;
  while (true) {
    const nameStart = text.indexOf('"', at);
    if (nameStart === -1) return members;
    const nameEnd = endOfString(text, nameStart);
    const valueStart = text.indexOf(':', nameEnd) + 1;
    const valueEnd = endOfValue(text, valueStart, depthMax);
    members.push({
      name: decode(text.slice(nameStart, nameEnd)),
      text: text.slice(valueStart, valueEnd).trim(),
    });
    at = valueEnd + 1;
    if (text.charCodeAt(valueEnd) === CLOSE_BRACE) return members;
  }
}

/** The place after the closing quote of the string that opens at `start`. */
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

/** The place of the comma or brace that ends the value beginning at `start`. */
function endOfValue(text: string, start: number, depthMax: number): number {
  let depth = 1;
  let at = start;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      continue;
    }
    if (depth === 1 && (code === COMMA || code === CLOSE_BRACE)) return at;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
    if (depth > depthMax) throw new RangeError(`is nested deeper than ${depthMax} levels`);
    at++;
  }
  return at;
}

function decode(quoted: string): string {
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}
