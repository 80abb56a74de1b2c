import { createMatcher, findPatternFault } from '../../sql/pattern.ts';
import { writeValue } from '../../sql/sql.ts';
import type { Expression } from './parse/tree.ts';
import type { Context } from './scope.ts';
import { as, type TargetType, type Type, type Value, WrongType } from './value.ts';

/** A function of BigQuery, with how many arguments it takes. */
export interface BigQueryFunction {
  readonly min: number;
  readonly max: number;
  /** @throws WrongType for arguments that are not understood */
  readonly write: (args: readonly Expression[], context: Context, name: string) => Value;
}

/**
 * An argument: a value of a type, or `part`, a word such as HOUR, `text`, a text in quotes, `pattern`, a regular
 * expression as it is, and `count`, a whole number in digits.
 */
type Kind = TargetType | 'part' | 'text' | 'pattern' | 'count';

/** Stands for an argument that a call leaves out. */
export const NULL: Expression = { kind: 'null', start: 0 };

/** Arguments of a call with any number of them. */
export const ARGUMENTS_MAX = 50;

/** A function of values, such as `(string, count, count?)`. @param write gets the SQL of each argument that is there */
export function plain(
  signature: readonly (Kind | `${Kind}?` | `${Kind}…`)[],
  type: Type,
  write: (...sqls: string[]) => string,
): BigQueryFunction {
  const kinds = signature.map((one) => one.replace(/\W$/, '') as Kind);
  const isVariadic = signature.some((one) => one.endsWith('…'));
  return {
    min: signature.filter((one) => !one.endsWith('?')).length,
    max: isVariadic ? ARGUMENTS_MAX : kinds.length,
    write(args, context, name) {
      const sqls = args.map((arg, i) => {
        const kind = kinds[i] ?? kinds.at(-1) ?? 'string';
        return readArgument(kind, arg, { name, context });
      });
      const given = sqls.filter((sql) => sql !== undefined);
      return { type, sql: given.length < sqls.length ? 'NULL' : write(...given) };
    },
  };
}

/** @returns `undefined` for NULL instead of a constant: then the call returns NULL */
function readArgument(
  kind: Kind,
  arg: Expression,
  { name, context }: { readonly name: string; readonly context: Context },
): string | undefined {
  const missing = (what: string) => new WrongType(`calls ${name} without ${what} where one belongs`);
  if (kind === 'part') {
    const part = readPart(arg);
    if (part === undefined) throw missing('a word such as HOUR');
    return part;
  }
  const value = context.translate(arg);
  if (kind !== 'count' && kind !== 'text' && kind !== 'pattern') return as(value, kind);
  const { type, text, sql } = value;
  if (type === 'null') return undefined;
  if (kind === 'count') {
    if (!/^\d{1,9}$/.test(sql)) throw missing('a whole number');
    return sql;
  }
  if (text === undefined) throw missing('a string in quotes');
  return kind === 'pattern' ? readPattern(text) : writeValue(text);
}

/** A word such as HOUR instead of a value, in lower case; `week(monday)` is `isoweek`. */
function readPart(expression: Expression): string | undefined {
  if (expression.kind === 'name' && expression.names.length === 1)
    return String(expression.names[0]).toLowerCase();
  const [day] = expression.kind === 'call' && expression.name === 'week' ? expression.args : [];
  return day !== undefined && readPart(day) === 'monday' ? 'isoweek' : undefined;
}

/** Checks a regular expression of a caller. @throws WrongType for a pattern that is rejected */
function readPattern(pattern: string): string {
  const fault = findPatternFault(pattern);
  if (fault !== undefined) throw new WrongType(`has a pattern that ${fault}`);
  if (typeof createMatcher(pattern) === 'string')
    throw new WrongType(
      `has ${JSON.stringify(pattern.slice(0, 60))}, which is not a regular expression of RE2`,
    );
  return pattern;
}
