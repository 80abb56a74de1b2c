import type { Row } from '../../api/answer.ts';
import { ownMember } from '../../format/own.ts';

/** Joins the values of one place. @returns null: it has none */
export type Join = (values: readonly number[]) => number | null;

export const sum: Join = (values) =>
  values.length === 0 ? null : values.reduce((total, value) => total + value, 0);
export const greatest: Join = (values) => (values.length === 0 ? null : Math.max(...values));

/** Rows of one value of a column. */
export interface Group {
  readonly label: string;
  readonly rows: readonly Row[];
}

/** The rows by the values of a column, the greatest first. @param weightOf what a group is measured by */
export function groupRows(
  rows: readonly Row[],
  column: string,
  weightOf: (rows: readonly Row[]) => number,
): Group[] {
  const groups = Map.groupBy(rows, (row) => labelOf(ownMember(row, column)));
  return [...groups]
    .map(([label, own]) => ({ label, rows: own, weight: weightOf(own) }))
    .toSorted((a, b) => b.weight - a.weight || a.label.localeCompare(b.label));
}

/** The text of a value that names a series. */
function labelOf(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  return value === '' ? 'empty' : String(value);
}

/** The numbers of a column; other values are left out. */
export function numbersOf(rows: readonly Row[], column: string): number[] {
  return rows.flatMap((row) => toNumber(ownMember(row, column)) ?? []);
}

export function toNumber(value: unknown): number | null {
  if (value === null || value === undefined || value === '') return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}
