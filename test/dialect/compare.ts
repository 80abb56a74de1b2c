import { expect } from 'vitest';
import type { Answer } from '../../trial/oracle/bigquery/query.ts';
import { datetimeText } from '../../trial/oracle/bigquery/time.ts';
import {
  isDatetime,
  isRecord,
  isTimestamp,
  type Json,
  type Value,
} from '../../trial/oracle/bigquery/value.ts';

export type AnswerRow = Readonly<Record<string, unknown>>;

/** A number that an approximation may answer. */
export interface Range {
  readonly least: number;
  readonly most: number;
}

/** What an answer must be: rows in classes of equal sort keys, each class in any order, all cut at a limit. */
export interface Expected {
  readonly classes: readonly (readonly AnswerRow[])[];
  readonly limit?: number | undefined;
}

/** Rows in order of columns; without columns, in any order. */
export function inOrder(rows: readonly AnswerRow[], by: readonly string[], limit?: number): Expected {
  const classes: AnswerRow[][] = [];
  rows.forEach((row, i) => {
    const before = rows[i - 1];
    if (before === undefined || by.some((name) => before[name] !== row[name])) classes.push([]);
    classes.at(-1)?.push(row);
  });
  return { classes, limit };
}

/** The answer of a query of the oracle. */
export function toExpected({ columns, classes, limit }: Answer): Expected {
  const toRow = (values: readonly Value[]): AnswerRow =>
    Object.fromEntries(
      columns.map(({ name, type }, i) => {
        const value = values[i] ?? null;
        // A path evaluates to JSON.
        return [name, type === 'dynamic' ? scalar(value as Parameters<typeof scalar>[0]) : value];
      }),
    );
  return { classes: classes.map((rows) => rows.map(toRow)), limit };
}

/** Rows of an answer, at most; the endpoint cuts it there. */
const ROWS_MAX = 1_000;

export function expectAnswer(
  actual: readonly AnswerRow[],
  { classes, limit }: Expected,
  about: string,
): void {
  const whole = classes.reduce((sum, rows) => sum + rows.length, 0);
  expect(actual.length, about).toBe(Math.min(whole, limit ?? whole, ROWS_MAX));
  let start = 0;
  for (const rows of classes) {
    const left = [...rows];
    for (const row of actual.slice(start, start + rows.length)) {
      const found = left.findIndex((one) => matchesRow(one, row));
      if (found < 0) expect([row], about).toEqual(left.length === 1 ? left : [{ oneOf: left.slice(0, 20) }]);
      left.splice(found, 1);
    }
    start += rows.length;
  }
}

function matchesRow(expected: AnswerRow, actual: AnswerRow): boolean {
  const names = Object.keys(expected);
  return (
    names.join() === Object.keys(actual).join() &&
    names.every((name) => matches(expected[name], actual[name]))
  );
}

/** Whether the JSON of an answer is the value, in the shape that Studio reads. */
function matches(expected: unknown, actual: unknown): boolean {
  if (typeof expected === 'function') return expected(actual) === true;
  if (isRange(expected))
    return typeof actual === 'number' && actual >= expected.least && actual <= expected.most;
  if (isScalar(expected)) return matchesScalar(expected.scalar, actual);
  if (isTimestamp(expected)) return actual === expected.timestamp;
  if (isDatetime(expected)) {
    const whole = datetimeText(expected.datetime);
    return actual === whole || actual === whole.slice(0, 19);
  }
  if (typeof expected === 'number' && typeof actual === 'number') return isNear(expected, actual);
  if (typeof expected !== 'object' || expected === null) return expected === actual;
  return isEqual(expected, actual);
}

function isNear(a: number, b: number): boolean {
  if (Number.isInteger(a) && Math.abs(a) < 2 ** 53) return Math.abs(a - b) < 1e-9 * Math.max(1, Math.abs(a));
  return Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
}

function isRange(value: unknown): value is Range {
  return isRecord(value) && Object.keys(value).join() === 'least,most';
}

function isEqual(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((one, i) => isEqual(one, b[i]));
  if (isRecord(a) && isRecord(b)) {
    const names = Object.keys(a);
    return names.length === Object.keys(b).length && names.every((name) => isEqual(a[name], b[name]));
  }
  return a === b;
}

/** JSON as Studio reads `metadata`: each object as a list of one. */
export function asLists(value: Json): Json {
  if (Array.isArray(value)) return value.map((one: Json) => (isRecord(one) ? withLists(one) : asLists(one)));
  return isRecord(value) ? [withLists(value)] : value;
}

function withLists(record: Readonly<Record<string, Json>>): Json {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, asLists(value)]));
}

/** A path that stands alone: its value in the event. */
export function scalar(value: Json): { readonly scalar: Json } {
  return { scalar: value };
}

function isScalar(value: unknown): value is { readonly scalar: Json } {
  return isRecord(value) && Object.keys(value).join() === 'scalar';
}

function matchesScalar(expected: Json, actual: unknown): boolean {
  if (typeof expected === 'number' && typeof actual === 'number') return isNear(expected, actual);
  return isEqual(expected, actual);
}

/** JSON text of a value, in any spelling. */
export function jsonText(value: unknown): (actual: unknown) => boolean {
  return (actual) =>
    value === undefined ? actual === null : typeof actual === 'string' && isEqual(value, JSON.parse(actual));
}

/** A selected record: an object, or a list with it as the only member. Records inside it are such lists. */
export function record(value: Json): (actual: unknown) => boolean {
  const lists = asLists(value);
  return (actual) => isEqual(lists, actual) || (Array.isArray(lists) && isEqual(lists[0], actual));
}
