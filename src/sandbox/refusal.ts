import { SQL_PARAMETER } from '../definitions/parameter.ts';
import type { TailraceError } from '../errors.ts';
import { invalidParameters } from '../query/parameters.ts';

/** The error for a caller's SELECT. @param message what is not allowed in it, and what would be */
export function invalidSql(message: string, cause?: unknown): TailraceError {
  return invalidParameters([{ parameter: SQL_PARAMETER, message }], cause);
}

/**
 * Bounds of a caller's SELECT, with what is counted in a caller's words. Those of its analysis hold for stored queries and drafts, too
 * (verify/disallowed-syntax.ts). Measured on its text and on the engine's trees before the engine resolves a name: resolving names
 * and computing constants can take minutes for a short text, and no kill stops the engine there.
 */
export const BOUNDS = {
  tokens: { max: 10_000, unit: 'words and signs' },
  brackets: { max: 64, unit: 'levels of brackets and CASE' },
  betweens: { max: 2, unit: 'nested BETWEEN; write >= and <=' },
  depth: { max: 150, unit: 'levels of calls, operators and subqueries' },
  nodes: { max: 3_000, unit: 'names, values and calls' },
  // A name that is used twice counts twice: `1 AS a, a + a AS b, b + b AS c` doubles with each.
  expandedNodes: { max: 10_000, unit: 'names, values and calls, with aliases and views expanded' },
  aliasDepth: { max: 40, unit: 'aliases that build on later aliases' },
  subqueryDepth: { max: 12, unit: 'nested SELECTs, with views expanded' },
  // The engine analyses each of these twice, so they double with each level.
  valueDepth: { max: 3, unit: 'nested SELECTs in IN, EXISTS or expressions' },
  values: { max: 24, unit: 'SELECTs in IN, EXISTS or expressions, with aliases and views expanded' },
  // Of lists of constants the analysis calls the innermost one for each combination of members.
  lambdaDepth: { max: 8, unit: 'levels of lambdas' },
  reads: { max: 32, unit: 'reads of views and tables, with views expanded' },
  columns: {
    max: 4_000,
    unit: 'columns of one SELECT, with * expanded, 64 for a table or a view of the stored query',
  },
  windows: { max: 32, unit: 'functions with OVER' },
  joins: { max: 16, unit: 'joins, with views expanded' },
  // The engine computes each from all groups in one step. WITH CUBE has one for each subset of its keys: 8 for three.
  groupings: { max: 8, unit: 'sets of keys in GROUPING SETS, CUBE or ROLLUP' },
  parts: { max: 1_000, unit: 'parts in one tuple, including nested ones' },
  work: { max: 640, unit: 'units of work for each row of one SELECT' },
} as const;

type BoundName = keyof typeof BOUNDS;

/** Bounds of stored queries and drafts that are wider: their authors may read everything, and unite all sources. */
const STORED_MAX: Readonly<Partial<Record<BoundName, number>>> = {
  depth: 500,
  valueDepth: 5,
  values: 64,
  reads: 256,
  joins: 128,
  columns: 16_000,
};

/** `assertBound` for a stored query. */
export function assertStoredBound(name: BoundName, count: number): void {
  assertCount(name, count, { max: STORED_MAX[name] ?? BOUNDS[name].max });
}

/** @throws TailraceError `invalid_parameter` that names the bound, its unit and the count */
export function assertBound(name: BoundName, count: number, hint = ''): void {
  assertCount(name, count, { max: BOUNDS[name].max, hint });
}

function assertCount(
  name: BoundName,
  count: number,
  { max, hint = '' }: { max: number; hint?: string },
): void {
  if (count <= max) return;
  const { unit } = BOUNDS[name];
  const shown = count > 1_000_000_000 ? 'more than a billion' : Math.ceil(count);
  throw invalidSql(`must have at most ${max} ${unit}; this one has ${shown}${hint}`);
}
