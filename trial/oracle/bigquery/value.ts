/** A value of an event's JSON. A whole number beyond 2^53 is a bigint, so that it stays exact. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonRecord;
export interface JsonRecord {
  readonly [name: string]: Json;
}

/** Microseconds since the epoch, UTC. */
export interface Timestamp {
  readonly timestamp: number;
}
/** A date and time without a zone, as the microseconds that it would be in UTC. */
export interface Datetime {
  readonly datetime: number;
}

/** A value of an expression. A path evaluates to the JSON that it finds; each operation reads that as the type it needs. */
export type Value = Json | Timestamp | Datetime;

/** An event as stored in a table. `metadata` is `undefined` if the event has none. */
export interface TableEvent {
  readonly id: string;
  /** Microseconds since the epoch. */
  readonly timestamp: number;
  readonly event_message: string;
  readonly metadata: Json | undefined;
}

/** Events by the name of their table. */
export type Tables = Readonly<Record<string, readonly TableEvent[]>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** The member of a record; null for a missing one, and for anything that is no record. A dot in a name is part of the name. */
export function member(value: Json | undefined, name: string): Json {
  return isRecord(value) && Object.hasOwn(value, name) ? (value[name] ?? null) : null;
}

/** The value at a path of member names. */
export function at(value: Json | undefined, ...names: readonly string[]): Json {
  return names.reduce<Json>((inner, name) => member(inner, name), value ?? null);
}

/** Rows of UNNEST: a list gives a row for each element, anything else one row. What holds no element gives one row of null. */
export function unnest(value: Json | undefined): readonly Json[] {
  if (!isList(value)) return [value ?? null];
  return value.length === 0 ? [null] : value;
}

function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** A scalar as text; null for null, lists and records. */
export function text(value: Value): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'boolean' || isNumber(value) ? String(value) : null;
}

const NUMBER = /^-?(?:0|[1-9]\d*)(\.\d+)?(?:[eE][-+]?\d+)?$/;

/** A number, or the number that a text holds; null for anything else. */
export function number(value: Value): number | bigint | null {
  if (isNumber(value)) return value;
  if (typeof value !== 'string' || !NUMBER.test(value)) return null;
  return /^-?\d+$/.test(value) && !Number.isSafeInteger(Number(value)) ? BigInt(value) : Number(value);
}

/** Order of values of one type, nulls first. Texts go by their UTF-8 bytes, which is the order of code points. */
export function compare(a: Value, b: Value): number {
  if (a === null || b === null) return Number(b === null) - Number(a === null);
  const [left, right] = [orderOf(a), orderOf(b)];
  if (typeof left === 'string' && typeof right === 'string')
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  return left < right ? -1 : left > right ? 1 : 0;
}

function orderOf(value: Value): string | number | bigint {
  if (isRecord(value)) {
    if (isTimestamp(value)) return value.timestamp;
    if (isDatetime(value)) return value.datetime;
  }
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'string' || isNumber(value) ? value : toJson(value);
}

export function isTimestamp(value: unknown): value is Timestamp {
  return (
    isRecord(value) && Object.keys(value).join() === 'timestamp' && typeof value['timestamp'] === 'number'
  );
}

export function isDatetime(value: unknown): value is Datetime {
  return isRecord(value) && Object.keys(value).join() === 'datetime' && typeof value['datetime'] === 'number';
}

/** JSON text, also of values with a bigint. */
export function toJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, one]) => one !== undefined);
  return `{${members.map(([name, one]) => `${JSON.stringify(name)}:${toJson(one)}`).join(',')}}`;
}

/** Equal for values that GROUP BY, DISTINCT and `=` hold for the same. */
export function keyOf(value: Value): string {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? String(value) : toJson(value);
}
