import { createRequire } from 'node:module';
import { messageOf } from '../errors.ts';

/** Finds a pattern of RE2 in texts, in a time linear in their length. */
export interface Matcher {
  /** Whether the pattern is found anywhere in the text. */
  matches(text: string): boolean;
  /** Whether JavaScript can compile the pattern, so that JSON Schemas can have it. */
  readonly isOfJavaScript: boolean;
}

const load = createRequire(import.meta.url);

/** @returns why RE2 rejects the pattern, as the end of a sentence that begins with its name */
export function createMatcher(pattern: string): Matcher | string {
  const { RE2JS } = load('re2js') as typeof import('re2js'); // its own types; loaded only if it is used
  try {
    const compiled = RE2JS.compile(pattern);
    return { matches: (text) => compiled.test(text), isOfJavaScript: isOfJavaScript(pattern) };
  } catch (error) {
    return `is not a pattern of RE2: ${messageOf(error)}`;
  }
}

// Instructions of a compiled pattern: each may be looked at for each character.
const PROGRAM_SIZE_MAX = 500;

/**
 * Returns a function that replaces whatever a pattern of RE2 finds in a text. `$1` in the replacement is the first group.
 *
 * @returns why the pattern cannot be used, as the end of a sentence that begins with its name
 */
export function createReplace(pattern: string, replacement: string): ((text: string) => string) | string {
  const { RE2JS } = load('re2js') as typeof import('re2js');
  try {
    const compiled = RE2JS.compile(pattern);
    const size = compiled.programSize();
    if (size > PROGRAM_SIZE_MAX)
      return `is too large: it compiles to ${size} instructions; at most ${PROGRAM_SIZE_MAX} are allowed`;
    if (compiled.test('')) return 'must not match an empty text';
    return (text) => (compiled.test(text) ? compiled.matcher(text).replaceAll(replacement) : text);
  } catch (error) {
    return `is not a pattern of RE2: ${messageOf(error)}`;
  }
}

function isOfJavaScript(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').unicode;
  } catch {
    return false;
  }
}
