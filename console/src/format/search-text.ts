/** Text of searches, as docs/search.md has it. Fields are as a search writes them: `request.path`, `"a b".c`. */

const FIELD_NAME = /^[^\s()":.*-][^\s()":.*]*$/;
const BARE_VALUE = /^[^\s()"*<>=][^\s()"*]*$/;

/** The field at a path of member names: `['request', 'path']` is `request.path`. */
export function formatField(path: readonly string[]): string {
  return path.map((name) => (FIELD_NAME.test(name) ? name : quote(name))).join('.');
}

/** The term for events in which the field has exactly this value. */
export function formatTerm(field: string, value: string): string {
  return `${field}:${formatTermValue(value)}`;
}

/** A value behind a field's colon or an operator, for exactly this text. */
export function formatTermValue(value: string): string {
  return BARE_VALUE.test(value) ? value : quote(value);
}

/** A search for events that match all of these searches. */
export function joinSearches(searches: readonly string[]): string {
  const given = searches.map((one) => one.trim()).filter((one) => one !== '');
  return given.length < 2 ? (given[0] ?? '') : given.map(group).join(' ');
}

/** In parentheses if it has an `or`, which binds less than the `and` between searches. */
function group(search: string): string {
  const bare = search.replaceAll(/"(?:[^"\\]|\\[\s\S])*"/g, '""');
  return /(?:^|[\s)"])or(?=[\s("-]|$)/i.test(bare) ? `(${search})` : search;
}

/** Longer patterns are cut: the texts after it hardly tell messages apart, and a search has a bound. */
const CHARS_MAX = 400;
const PLACEHOLDER = /<[^<>\s]{1,20}>/;
/** What ends a word of a search, or means something in one. */
const SPECIAL = /[\s()":*]+/;

/** The search for messages of a pattern, `GET | <num>`: its fixed texts in their order, `GET*|`; undefined without one. */
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
