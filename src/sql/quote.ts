const NEEDS_ESCAPE = /[\\'\0]/g;

/**
 * A string as a ClickHouse literal: the only function by which a value enters SQL. A file of its own, so that its importers show.
 *
 * Escapes backslash, quote and NUL, which would end the text in C. A lone surrogate has no UTF-8 form and becomes U+FFFD, as
 * everywhere in the platform. test/sql/parameter.test.ts reads literals back through the engine.
 */
export function quote(value: string): string {
  return `'${value.toWellFormed().replace(NEEDS_ESCAPE, (c) => (c === '\0' ? '\\0' : `\\${c}`))}'`;
}
