import { TailraceError } from '../errors.ts';

const NEEDS_ESCAPE = /[\\'\0]/g;

/** A parameter's value as a literal: a text, or a whole number that the service itself has computed. */
export type Value = string | number;

/** The values of a statement's parameters, by name. */
export type Values = Readonly<Record<string, Value>>;

/** @throws TailraceError `internal` for a value that was not given, which is a mistake of ours */
export function getValue(values: Values, name: string): Value {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined) throw new TailraceError('internal', `no value was given for @${name}`);
  return value;
}

/**
 * Writes a value as a literal, for fragments of stored and callers' statements. Statements of the service are written
 * by `sql` (sql.ts).
 *
 * @throws RangeError for a number that a double does not hold exactly
 */
export function writeValue(value: Value): string {
  if (typeof value === 'string') return quote(value);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not an integer`);
  return String(value);
}

/**
 * A string as a ClickHouse literal: the only function by which a value enters SQL.
 *
 * Escapes backslash, quote and NUL, which would end the text in C. A lone surrogate has no UTF-8 form and becomes U+FFFD, as
 * everywhere in the platform. test/sql/parameter.test.ts reads literals back through the engine.
 */
function quote(value: string): string {
  return `'${value.toWellFormed().replace(NEEDS_ESCAPE, (c) => (c === '\0' ? '\\0' : `\\${c}`))}'`;
}
