import {
  at,
  type Json,
  number,
  type TableEvent,
  type Tables,
  text,
  unnest,
} from '../../../trial/oracle/bigquery/value.ts';
import type { AnswerRow } from '../compare.ts';

/** A query in Studio's style, with the rows that it must answer. */
export interface CorpusQuery {
  readonly sql: string;
  readonly expected: (tables: Tables) => readonly AnswerRow[];
  /** Columns by which the answer is sorted, if it is. */
  readonly by?: readonly string[];
  readonly limit?: number;
}

/** The instant of all queries. */
export const NOW = '2026-11-20T07:00:00.000Z';
export const NOW_MICROS = Date.parse(NOW) * 1000;

type Opened<Alias extends string> = { readonly e: TableEvent; readonly m: Json } & Readonly<
  Record<Alias, Json>
>;

/** Events with `metadata` unnested as `m`, and then each record of `chain`, given as the alias around it and its name. */
export function open<Alias extends string = never>(
  events: readonly TableEvent[] = [],
  chain: Readonly<Record<Alias, readonly [string, string]>> = {} as never, // without aliases
): Opened<Alias>[] {
  let rows: Record<string, Json | TableEvent>[] = events.flatMap((e) =>
    unnest(e.metadata).map((m) => ({ e, m })),
  );
  for (const [alias, [around, name]] of Object.entries<readonly [string, string]>(chain))
    rows = rows.flatMap((row) =>
      unnest(at(row[around] as Json, name)).map((element) => ({ ...row, [alias]: element })),
    );
  return rows as Opened<Alias>[]; // each alias of the chain has been added
}

/** A member as text; null for none. */
export function str(record: Json, ...names: readonly string[]): string | null {
  return text(at(record, ...names));
}

/** A member as a number, also from a text; NaN, for which no comparison holds, for none. */
export function num(record: Json, ...names: readonly string[]): number {
  return Number(number(at(record, ...names)) ?? Number.NaN);
}

/** Null in place of NaN. */
export function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

function numbers(values: readonly number[]): number[] {
  return values.filter((value) => !Number.isNaN(value));
}

export function sum(values: readonly number[]): number | null {
  const all = numbers(values);
  return all.length === 0 ? null : all.reduce((total, value) => total + value, 0);
}

export function average(values: readonly number[]): number | null {
  const total = sum(values);
  return total === null ? null : total / numbers(values).length;
}

export function most(values: readonly number[]): number | null {
  const all = numbers(values);
  return all.length === 0 ? null : Math.max(...all);
}

export function least(values: readonly number[]): number | null {
  const all = numbers(values);
  return all.length === 0 ? null : Math.min(...all);
}

/** Rows by key, with the key. */
export function grouped<T, K>(rows: readonly T[], key: (row: T) => K): { key: K; rows: T[] }[] {
  const groups = Map.groupBy(rows, (row) => JSON.stringify(key(row)));
  return [...groups.values()].map((own) => ({ key: key(own[0] as T), rows: own })); // a group has a row
}

/** Newest first. */
export function newest<T extends { readonly timestamp: number }>(rows: readonly T[]): T[] {
  return [...rows].sort((a, b) => b.timestamp - a.timestamp);
}

/** Nulls first, then ascending. */
export function ascending<T>(rows: readonly T[], key: (row: T) => Key): T[] {
  return [...rows].sort((a, b) => order(key(a), key(b)));
}

/** Descending, then nulls. */
export function descending<T>(rows: readonly T[], key: (row: T) => Key): T[] {
  return [...rows].sort((a, b) => order(key(b), key(a)));
}

type Key = string | number | null | readonly (number | string)[];

function order(a: Key, b: Key): number {
  if (Array.isArray(a) && Array.isArray(b))
    return a.reduce<number>((found, part: number | string, i) => found || order(part, b[i] ?? null), 0);
  if (a === null || b === null) return Number(b === null) - Number(a === null);
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : Number(a > b);
}

const MINUTE = 60_000_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const toMinute = (micros: number) => micros - (micros % MINUTE);
export const toHour = (micros: number) => micros - (micros % HOUR);
export const toDay = (micros: number) => micros - (micros % DAY);

export const iso = (micros: number) => new Date(Math.floor(micros / 1000)).toISOString();

/** The first 19 characters of an instant, as a DATETIME is answered. */
export const datetime = (micros: number) => ({ datetime: micros });

/** Between the values beside the rank of a quantile. */
export function near(values: readonly number[], share: number): AnswerRow | null {
  const sorted = numbers(values).sort((a, b) => a - b);
  const rank = share * (sorted.length - 1);
  const low = sorted[Math.max(0, Math.floor(rank) - 1)];
  const high = sorted[Math.min(sorted.length - 1, Math.ceil(rank) + 1)];
  return low === undefined || high === undefined ? null : { least: low, most: high };
}

/** A field in the order of its values: null, numbers and texts that are numbers, texts. */
export function fieldOrder(value: string | null): readonly (number | string)[] {
  if (value === null) return [0];
  const found = number(value);
  return found === null ? [2, value] : [1, Number(found), value];
}
