/** Longer patterns are cut: the texts after it hardly tell messages apart, and a search has a bound. */
const CHARS_MAX = 400;
const PLACEHOLDER = /<[^<>\s]{1,20}>/;
/** What ends a word of a search, or means something in one. */
const SPECIAL = /[\s()":*]+/;

/**
 * The search for messages of a pattern such as `GET | <num> | <word>`: its fixed texts in their order, `GET*|*|`. It may find messages
 * of a longer pattern, too.
 *
 * @returns undefined if the pattern has no fixed text
 */
export function formatPattern(pattern: string): string | undefined {
  const cut = pattern.slice(0, CHARS_MAX);
  const parts = cut.split(PLACEHOLDER);
  const [whole = ''] = parts;
  if (parts.length === 1) return whole.trim() === '' ? undefined : quote(whole.trim());
  const words = parts.flatMap((part) => part.split(SPECIAL)).filter((word) => word !== '');
  const [first, ...rest] = words;
  if (first === undefined) return undefined;
  if (rest.length === 0) return quote(first);
  // A minus in front would exclude, and an empty first word finds any text.
  return `${first.replace(/^-+/, '')}*${rest.join('*')}`;
}

function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}
