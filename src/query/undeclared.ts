import type { ParameterFault } from '../errors.ts';
import { describeNearest } from '../lib/nearest.ts';

// A request may send a thousand.
const NAMED_MAX = 5;
const NAME_CHARS_MAX = 60;
const KEY_NAME = 'api_key';

/** A fault of each undeclared name, with what was probably meant. */
export function describeUndeclared(names: readonly string[], known: readonly string[]): ParameterFault[] {
  return names.slice(0, NAMED_MAX).map((name) => {
    const message = `is not known${describeNearest(name, known) || ';'} known here: ${known.join(', ') || 'none'}`;
    return { parameter: shortenName(name), message };
  });
}

/** Names that the response reports as ignored. */
export const IGNORED_HEADER = 'x-ignored-parameters';
const HEADER_NAMES_MAX = 10;
const HEADER_CHARS_MAX = 1_000;

/**
 * The value of the header: names joined by `, `, each cut after 60 characters and percent-encoded, so that no text of a caller is
 * read as a header. `+12` at the end: as many more.
 */
export function writeIgnored(names: readonly string[]): string {
  const shown: string[] = [];
  let chars = 0;
  for (const name of names.slice(0, HEADER_NAMES_MAX)) {
    const encoded = encodeURIComponent(shortenName(name));
    chars += encoded.length;
    if (chars > HEADER_CHARS_MAX) break;
    shown.push(encoded);
  }
  const more = names.length - shown.length;
  return [...shown, ...(more > 0 ? [`+${more}`] : [])].join(', ');
}

/** The names of a header; those beyond its bound are left out. */
export function parseIgnored(header: string): string[] {
  const parts = header.split(',').map((part) => part.trim());
  return parts.filter((part) => part !== '' && !part.startsWith('+')).map(decode);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // something between has changed it
  }
}

/** Cuts a name; of `api_key…` it leaves only the start, since without its `=` the key itself follows. */
function shortenName(name: string): string {
  if (name.startsWith(KEY_NAME) && name !== KEY_NAME) return `${KEY_NAME}…`;
  const text = name.toWellFormed();
  return text.length > NAME_CHARS_MAX ? `${text.slice(0, NAME_CHARS_MAX).toWellFormed()}…` : text;
}
