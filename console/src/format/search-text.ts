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

function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}
