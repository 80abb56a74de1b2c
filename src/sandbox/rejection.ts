import { SQL_PARAMETER } from '../definitions/parameter.ts';
import type { TailraceError } from '../errors.ts';
import { invalidParameters } from '../query/parameters.ts';
import { parseSql } from '../sql/parse.ts';

/** The error for a caller's SELECT. @param message what is not allowed in it, and what would be */
export function invalidSql(message: string, cause?: unknown): TailraceError {
  return invalidParameters([{ parameter: SQL_PARAMETER, message }], cause);
}

/** Bounds of a caller's SELECT beside the engine's own limits (engine/read-settings.ts), which come too late for these. */
export const BOUNDS = {
  // The engine's parser expands `x BETWEEN 1 AND 2` to `x >= 1 AND x <= 2`: each on the left of another doubles the text.
  betweens: { max: 16, unit: 'BETWEEN; write >= and <=' },
  joins: { max: 32, unit: 'JOIN' },
  tuple: { max: 500, unit: 'members in a tuple' },
  // `(x, x) AS x` of a SELECT of the same: the type of the outermost one has all members.
  tuples: { max: 100_000, unit: 'members in the largest tuple of each nested SELECT, multiplied' },
} as const;

/** @throws TailraceError `invalid_parameter` that names the bound, its unit and the count */
export function assertBound(name: keyof typeof BOUNDS, count: number): void {
  const fault = findExcess(name, count);
  if (fault !== undefined) throw invalidSql(fault);
}

function findExcess(name: keyof typeof BOUNDS, count: number): string | undefined {
  const { max, unit } = BOUNDS[name];
  return count > max ? `must have at most ${max} ${unit}; this one has ${count}` : undefined;
}

/** Why the engine's parser would take too long for a text, of callers and of authors; `undefined` if it does not. */
export function findWordFault(sql: string): string | undefined {
  const { words } = parseSql(sql);
  const count = (key: string) => words.filter((word) => word.key === key).length;
  return findExcess('betweens', count('BETWEEN')) ?? findExcess('joins', count('JOIN'));
}
