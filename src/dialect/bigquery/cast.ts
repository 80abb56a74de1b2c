import { as, instantOf, isJson, isTime, nameOf, WrongType } from './convert.ts';
import { roundToInteger, type Type, type Value } from './value.ts';

/** The types of CAST, by every name that they have. */
const TYPES: Readonly<
  Record<string, 'string' | 'int64' | 'float64' | 'bool' | 'timestamp' | 'datetime' | 'date'>
> = {
  string: 'string',
  int64: 'int64',
  integer: 'int64',
  int: 'int64',
  bigint: 'int64',
  float64: 'float64',
  bool: 'bool',
  boolean: 'bool',
  timestamp: 'timestamp',
  datetime: 'datetime',
  date: 'date',
};

/** CAST and SAFE_CAST. JSON that is not of the type is NULL in both. @throws WrongType */
export function cast(value: Value, name: string, isSafe: boolean): Value {
  const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
  if (type === undefined)
    throw new WrongType(
      `casts to ${name.toUpperCase()}; known are ${Object.keys(TYPES).join(', ').toUpperCase()}`,
    );
  if (value.type === 'null') return { type, sql: 'NULL' };
  if (type === 'string')
    return { type, sql: toText(value), ...(value.text !== undefined && { text: value.text }) };
  if (type === 'timestamp' || type === 'datetime' || type === 'date') return toTime(value, type, isSafe);
  if (isJson(value) || value.type === type) return { type, sql: as(value, type) };
  return { type, sql: toPlain(value, type, isSafe) };
}

/** Casts between other types, by both types. */
const PLAIN: Readonly<Record<string, (sql: string, suffix: '' | 'OrNull') => string>> = {
  'string int64': (sql, suffix) => `toInt64${suffix}(${sql})`,
  'string float64': (sql, suffix) => `toFloat64${suffix}(${sql})`,
  'string bool': (sql, suffix) => {
    const other = suffix === '' ? `toBool(toInt64(${sql}))` : 'NULL';
    return `multiIf(lower(${sql}) = 'true', true, lower(${sql}) = 'false', false, ${other})`;
  },
  'int64 float64': (sql) => `toFloat64(${sql})`,
  'int64 bool': (sql) => `(${sql} != 0)`,
  'float64 int64': roundToInteger,
  'bool int64': (sql) => `if(${sql}, 1, 0)`,
};

function toPlain(value: Value, type: 'int64' | 'float64' | 'bool', isSafe: boolean): string {
  const write = PLAIN[`${value.type} ${type}`];
  if (write === undefined) throw refuseCast(value, type);
  return write(value.sql, isSafe ? 'OrNull' : '');
}

function refuseCast(value: Value, type: Type) {
  return new WrongType(`casts a ${nameOf(value)} to ${type.toUpperCase()}, which BigQuery does not`);
}

function toText(value: Value): string {
  const { type, sql } = value;
  if (isJson(value) || type === 'string') return as(value, 'string');
  if (type === 'bool') return `if(${sql}, 'true', 'false')`;
  if (type === 'timestamp') return `concat(${formatTime(sql, ' ')}, '+00')`;
  return type === 'datetime' ? formatTime(sql, ' ') : `toString(${sql})`;
}

/** A time with as many digits of the second as it needs: none, three or six. */
export function formatTime(time: string, separator: 'T' | ' '): string {
  const fraction = `formatDateTime(${time}, '.%f')`;
  const digits = `multiIf(toMicrosecond(${time}) = 0, '', endsWith(${fraction}, '000'), left(${fraction}, 4), ${fraction})`;
  return `concat(formatDateTime(${time}, '%Y-%m-%d${separator}%H:%i:%S'), ${digits})`;
}

const ISO = `'^\\\\s*\\\\d{4}-\\\\d{1,2}-\\\\d{1,2}'`;

function toTime(value: Value, type: 'timestamp' | 'datetime' | 'date', isSafe: boolean): Value {
  const { sql, text } = value;
  if (isTime(value)) {
    if (type === 'date') return { type, sql: `toDate(${sql})` };
    return value.type === 'date' ? { type, sql: `toDateTime64(${sql}, 6, 'UTC')` } : { ...value, type };
  }
  if (text !== undefined) return instantOf(text, type);
  if (isJson(value)) return { type, sql: as(value, type) };
  if (value.type !== 'string') throw refuseCast(value, type);
  // The engine reads other texts too, such as seconds since 1970.
  const time = `parseDateTime64BestEffort${isSafe ? 'OrNull' : ''}(if(match(${sql}, ${ISO}), ${sql}, ''), 6, 'UTC')`;
  return { type, sql: type === 'date' ? `toDate(${time})` : time };
}
