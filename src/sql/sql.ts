import { TailraceError } from '../errors.ts';

const NEEDS_ESCAPE = /[\\'\0]/g;

/** A parameter's value as a literal: a text, or a whole number that the service itself has computed. */
type Value = string | number;

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

/** SQL in which every value is a literal. Only the functions of this file create it. */
class QuotedSql {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }

  toString(): string {
    return this.#text;
  }
}

// Only the type is exported, so that no other file can create one.
export type Sql = QuotedSql;

type Part = Value | bigint | Sql;

/**
 * A statement as the engine accepts it: `Sql`, or a text that is constant in the code. A text with interpolated parts
 * does not compile: its type is `string`, or a pattern such as `SELECT ${string}`, which is the only kind of literal
 * type that makes a record without members.
 */
export type SqlText<T extends string> = Sql | (Record<never, never> extends Record<T, 1> ? never : T);

/**
 * Writes SQL with its values as literals: sql`SELECT 1 WHERE project = ${project}`. `Sql` is inserted unchanged, a list
 * as its members with commas between them.
 *
 * @throws RangeError for a number that is not an integer, or not exact as a double
 */
export function sql(parts: TemplateStringsArray, ...values: readonly (Part | readonly Part[])[]): Sql {
  // `raw` gets the parts with their escapes resolved, since backquotes are written as \`.
  return new QuotedSql(String.raw({ raw: parts }, ...values.map(writePart)));
}

function writePart(part: Part | readonly Part[]): string {
  if (part instanceof QuotedSql) return part.text;
  if (typeof part === 'bigint') return String(part);
  if (typeof part === 'string' || typeof part === 'number') return writeValue(part);
  return part.map(writePart).join(', ');
}

/** Writes the name of a table or a column. @throws RangeError for one that backquotes cannot hold as it is */
export function identifier(name: string): Sql {
  if (/[`\\\0]/.test(name)) throw new RangeError(`${JSON.stringify(name)} cannot be a name in SQL`);
  return new QuotedSql(`\`${name}\``);
}

/** Marks a text as SQL without quoting anything: for text that the service has built or checked, never for a value. */
export function trusted(text: string): Sql {
  return new QuotedSql(text);
}

/** Joins parts of SQL, such as the SELECTs of a union. */
export function join(parts: readonly Sql[], separator: string): Sql {
  return new QuotedSql(parts.map(({ text }) => text).join(separator));
}

/** Returns the text of a statement, to be sent. */
export function textOf(statement: Sql | string): string {
  return typeof statement === 'string' ? statement : statement.text;
}
