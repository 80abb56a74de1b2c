import { diff, isDeepStrictEqual } from 'node:util';
import { stringify } from 'yaml';
import type { TailraceError } from '../../errors.ts';
import type { Expectation, Row, TestCase } from './test-case.ts';

/** The response to a request. */
export type Outcome = { readonly rows: readonly Row[] } | { readonly error: TailraceError };

type Tolerance = TestCase['toleranceOf'];

/** Whether an answer is the expected one: the same rows in the same order, or the same error. */
export function isExpected({ rows, error, toleranceOf }: TestCase, outcome: Outcome): boolean {
  if ('rows' in outcome)
    return rows !== undefined && isDeepStrictEqual(adopt(rows, outcome.rows, toleranceOf), outcome.rows);
  if (error?.code !== outcome.error.code) return false;
  const { parameter } = error;
  return parameter === undefined || outcome.error.errors.some((one) => one.parameter === parameter);
}

/**
 * Returns rows in which numbers that are near those of the other rows are replaced by them, and columns have their
 * order. Both sides can then be compared exactly, even as text.
 */
function adopt(rows: readonly Row[], others: readonly Row[], toleranceOf: Tolerance): Row[] {
  return rows.map((row, i) => adoptMembers(row, others[i] ?? {}, toleranceOf));
}

function adoptMembers(value: Row, other: Row, toleranceOf: Tolerance): Row {
  const shared = Object.keys(other).filter((name) => Object.hasOwn(value, name));
  const names = new Set([...shared, ...Object.keys(value)]);
  return Object.fromEntries(
    [...names].map((name) => [name, adoptValue(value[name], other[name], toleranceOf(name))]),
  );
}

function adoptValue(value: unknown, other: unknown, tolerance: number): unknown {
  if (isNumber(value) && isNumber(other)) {
    if (tolerance === 0 && typeof value === 'bigint') return value; // exact, as doubles are not
    const [a, b] = [Number(value), Number(other)]; // the engine writes even 1e20 as an integer
    return Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b)) ? other : value;
  }
  if (isMap(value) && isMap(other)) return adoptMembers(value, other, () => tolerance);
  if (!Array.isArray(value) || !Array.isArray(other)) return value;
  return value.map((one, i) => adoptValue(one, other[i], tolerance));
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

export function isMap(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the expectation that an answer would meet. */
function expectationOf(outcome: Outcome): Expectation {
  if ('rows' in outcome) return { rows: outcome.rows };
  const { code, errors } = outcome.error;
  const [first] = errors;
  return { error: { code, ...(first !== undefined && { parameter: first.parameter }) } };
}

// Unchanged lines around a change.
const CONTEXT_LINES = 3;
// Time and memory of comparing grow with the product of the differing lines.
const LINES_MAX = 500;

/** One line of a difference: `-` is only expected, `+` was only returned. */
export type DiffLine = `${'-' | '+' | ' '} ${string}`;

/** Returns the lines in which an answer differs from the expectation of a case, as YAML. */
export function diffLines(expected: TestCase, outcome: Outcome): DiffLine[] {
  const { rows, toleranceOf } = expected;
  const wanted =
    rows !== undefined && 'rows' in outcome ? { rows: adopt(rows, outcome.rows, toleranceOf) } : expected;
  const [before, after] = [toLines(wanted), toLines(expectationOf(outcome))];
  // Their common start is not compared, so that only differences count against the bound.
  let same = 0;
  while (same < before.length && before[same] === after[same]) same++;
  const start = Math.max(0, same - CONTEXT_LINES);
  const cut = (lines: readonly string[]) => lines.slice(start, start + LINES_MAX);
  const entries = diff(cut(before), cut(after)); // 1: only before, -1: only after
  const isNear = entries.map((_, i) =>
    entries.slice(Math.max(0, i - CONTEXT_LINES), i + CONTEXT_LINES + 1).some(([change]) => change !== 0),
  );
  const lines = entries.flatMap(([change, line], i): DiffLine[] => {
    if (isNear[i] === true) return [`${change === 0 ? ' ' : change === 1 ? '-' : '+'} ${line}`];
    return isNear[i - 1] === true ? ['  …'] : [];
  });
  const more = Math.max(before.length, after.length) - start - LINES_MAX;
  return [
    ...(start > 0 ? (['  …'] as const) : []),
    ...lines,
    ...(more > 0 ? ([`  … and ${more} more lines`] as const) : []),
  ];
}

const ROW_CHARS_MAX = 110;

/** Writes rows as in a test file, a line for each short row. */
function toLines({ rows, error }: Expectation): string[] {
  if (error !== undefined) return [`error: ${toFlow(error)}`];
  if (rows === undefined) return [];
  if (rows.length === 0) return ['rows: []'];
  return ['rows:', ...rows.flatMap((row) => `- ${toFlow(row)}`.split('\n').map((line) => `  ${line}`))];
}

function toFlow(value: object): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: ROW_CHARS_MAX }).trimEnd();
}
