import { findGroups, findPatternFault } from '../../sql/pattern.ts';
import { writeValue } from '../../sql/quote.ts';
import { createMatcher } from '../../sql/text-matcher.ts';
import { TIME_FUNCTIONS } from './time-function.ts';
import {
  as,
  type BigQueryFunction,
  instantOf,
  isJson,
  isTime,
  nameOf,
  roundAway,
  roundToInteger,
  type Type,
  type Value,
  WrongType,
} from './value.ts';

const call =
  (name: string) =>
  (...args: string[]) =>
    `${name}(${args.join(', ')})`;

const text = (name: string, args: BigQueryFunction['args'] = ['string']): BigQueryFunction => ({
  args,
  type: 'string',
  write: call(name),
});

const flag = (name: string): BigQueryFunction => ({
  args: ['string', 'string'],
  type: 'bool',
  write: call(name),
});

/** A text from its character at `start`, counted from 1; 0 is the first too, which the engine would take for none. */
function writePart(s: string, start: string, ...count: string[]): string {
  return call('substringUTF8')(s, /^0+$/.test(start) ? '1' : start, ...count);
}

const TEXT_FUNCTIONS: Readonly<Record<string, BigQueryFunction>> = {
  lower: text('lowerUTF8'),
  upper: text('upperUTF8'),
  reverse: text('reverseUTF8'),
  trim: { args: ['string'], type: 'string', write: (s) => trimLeft(trimRight(s)) },
  ltrim: { args: ['string'], type: 'string', write: (s) => trimLeft(s) },
  rtrim: { args: ['string'], type: 'string', write: (s) => trimRight(s) },
  concat: { ...text('concat'), isVariadic: true },
  length: { args: ['string'], type: 'int64', write: (s) => `toInt64(lengthUTF8(${s}))` },
  char_length: { args: ['string'], type: 'int64', write: (s) => `toInt64(lengthUTF8(${s}))` },
  starts_with: flag('startsWith'),
  ends_with: flag('endsWith'),
  strpos: {
    args: ['string', 'text'],
    type: 'int64',
    write: (s, part) => `toInt64(positionUTF8(${s}, ${part}))`,
  },
  left: text('leftUTF8', ['string', 'count']),
  right: text('rightUTF8', ['string', 'count']),
  substr: { args: ['string', 'count', 'count'], optional: 1, type: 'string', write: writePart },
  substring: { args: ['string', 'count', 'count'], optional: 1, type: 'string', write: writePart },
  replace: text('replaceAll', ['string', 'text', 'string']),
};

// ClickHouse's trim knows spaces only.
const trimLeft = (s: string) => `replaceRegexpOne(${s}, '^\\\\s+', '')`;
const trimRight = (s: string) => `replaceRegexpOne(${s}, '\\\\s+$', '')`;

const NUMBER_FUNCTIONS: Readonly<Record<string, BigQueryFunction>> = {
  abs: { args: ['float64'], type: 'float64', write: call('abs') },
  sign: { args: ['float64'], type: 'float64', write: call('sign') },
  floor: { args: ['float64'], type: 'float64', write: call('floor') },
  ceil: { args: ['float64'], type: 'float64', write: call('ceil') },
  ceiling: { args: ['float64'], type: 'float64', write: call('ceil') },
  trunc: { args: ['float64'], type: 'float64', write: call('trunc') },
  sqrt: { args: ['float64'], type: 'float64', write: call('sqrt') },
  round: {
    args: ['float64', 'count'],
    optional: 1,
    type: 'float64',
    write: (x, digits) =>
      digits === undefined ? roundAway(x) : `(${roundAway(`(${x} * exp10(${digits}))`)}) / exp10(${digits})`,
  },
  mod: { args: ['int64', 'int64'], type: 'int64', write: call('modulo') },
  div: { args: ['int64', 'int64'], type: 'int64', write: call('intDiv') },
  safe_divide: {
    args: ['float64', 'float64'],
    type: 'float64',
    write: (a, b) => `${a} / nullIf(${b}, 0)`,
  },
};

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

/** Checks a regular expression of a caller. @throws WrongType for a pattern that is rejected */
export function readPattern(pattern: string): string {
  const fault = findPatternFault(pattern);
  if (fault !== undefined) throw new WrongType(`has a pattern that ${fault}`);
  if (typeof createMatcher(pattern) === 'string')
    throw new WrongType(
      `has ${JSON.stringify(pattern.slice(0, 60))}, which is not a regular expression of RE2`,
    );
  return pattern;
}

/** In ClickHouse a dot is also the end of a line. */
const writePattern = (pattern: string) => writeValue(pattern.includes('.') ? `(?-s)${pattern}` : pattern);

// Without any of these each part of a pattern matches a character.
const MAY_BE_EMPTY = /[*?|{^$]|\\[AbBzQ]|\(\)|^$/;

function canBeEmpty(pattern: string): boolean {
  if (!MAY_BE_EMPTY.test(pattern)) return false; // compiling takes time
  const matcher = createMatcher(`^(?:${pattern})$`);
  return typeof matcher === 'string' || matcher.matches('');
}

// The engine searches for each match as if the text began after the one before, and stops at an empty match.
const AT_PLACE = /(?<!\[)\^|\\[AbB]/;

/**
 * The text of the group, or of the match if the pattern has none; NULL without a match, and for a group without a part
 * in the match, for which the engine has the empty text.
 */
function writeExtract(value: string, pattern: string, position = '1', occurrence = '1'): string {
  const groups = findGroups(pattern);
  if (groups.length > 1)
    throw new WrongType(
      `calls regexp_extract with a pattern of ${groups.length} groups; write others as (?:…)`,
    );
  const [start, nth] = [Number(position), Number(occurrence)];
  if (start === 0 || nth === 0)
    throw new WrongType('calls regexp_extract with a position or an occurrence of 0; both count from 1');
  if (nth > 1 && (AT_PLACE.test(pattern) || canBeEmpty(pattern)))
    throw new WrongType(
      'calls regexp_extract with an occurrence beyond 1 and a pattern that has ^, \\A, \\b or \\B, ' +
        'or matches the empty text; this is not understood',
    );
  const text = start === 1 ? value : `substringUTF8(${value}, ${start})`;
  const written = writePattern(pattern);
  const all = `extractAll(ifNull(${text}, ''), ${written})`;
  const found = nth === 1 ? `extract(${text}, ${written})` : `${all}[${nth}]`;
  const tests = [
    nth === 1 ? `match(${text}, ${written})` : `length(${all}) >= ${nth}`,
    ...(start === 1 ? [] : [`lengthUTF8(${value}) >= ${start}`]),
  ];
  const [group] = groups;
  const own = group === undefined || canBeEmpty(group) ? found : `nullIf(${found}, '')`;
  return `if(${tests.join(' AND ')}, ${own}, NULL)`;
}

const extract: BigQueryFunction = {
  args: ['string', 'pattern', 'count', 'count'],
  optional: 2,
  type: 'string',
  write: writeExtract,
};

const REGEXP_FUNCTIONS: Readonly<Record<string, BigQueryFunction>> = {
  regexp_contains: {
    args: ['string', 'pattern'],
    type: 'bool',
    write: (text, pattern) => `match(${text}, ${writePattern(pattern)})`,
  },
  regexp_extract: extract,
  regexp_substr: extract,
};

/** Every function that takes values and gives a value, by name in lower case. A member a function. */
export const FUNCTIONS: ReadonlyMap<string, BigQueryFunction> = new Map(
  Object.entries({ ...TEXT_FUNCTIONS, ...REGEXP_FUNCTIONS, ...NUMBER_FUNCTIONS, ...TIME_FUNCTIONS }),
);
