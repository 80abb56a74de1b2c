/** Values in one JSON body, of all routes but those of events: far above what any of them reads. */
export const JSON_VALUES_MAX = 5_000;

const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = '\\'.charCodeAt(0);
// Each begins a value, a member or an item, or comes before one.
const MARKS: ReadonlySet<number> = new Set(Buffer.from('[{,'));

/**
 * Whether a text has more values than are parsed. The time to parse and to check a body grows with them more than with its length:
 * 256 KiB of `[],` in a list that expects texts are 87,000 faults. Marks within texts do not count.
 */
export function hasTooManyValues(text: string): boolean {
  let count = 0;
  let isText = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isText = !isText;
    else if (isText) at += code === BACKSLASH ? 1 : 0;
    else if (MARKS.has(code) && ++count > JSON_VALUES_MAX) return true;
  }
  return false;
}
