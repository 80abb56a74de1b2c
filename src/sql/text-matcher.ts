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

function isOfJavaScript(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').unicode;
  } catch {
    return false;
  }
}
