const NEEDS_ESCAPE = /[\\'\0]/g;

/**
 * A string as a ClickHouse literal: the one function by which a value enters SQL text.
 *
 * Backslash and quote are escaped, and NUL, which would end the text where it passes through C. A lone surrogate
 * has no UTF-8 form and becomes U+FFFD, as everywhere in the platform. test/sql/parameter.test.ts reads what it makes
 * back through the engine.
 */
export function quote(value: string): string {
  return `'${value.toWellFormed().replace(NEEDS_ESCAPE, (c) => (c === '\0' ? '\\0' : `\\${c}`))}'`;
}
