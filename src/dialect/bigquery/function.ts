import { createMatcher, findGroups } from '../../sql/pattern.ts';
import { writeValue } from '../../sql/sql.ts';
import { reject } from './parse/tree.ts';
import { type BigQueryFunction, NULL, plain, takes } from './signature.ts';
import {
  as,
  instantOf,
  isJson,
  isTime,
  nameOf,
  type PlainType,
  readBool,
  roundAway,
  roundToInteger,
  type TimeType,
  type Type,
  type Value,
} from './value.ts';

/** A text from its character at `start`, counted from 1; 0 is the first too, which the engine would take for none. */
function writePart(s: string, start: string, ...count: string[]): string {
  return `substringUTF8(${[s, /^0+$/.test(start) ? '1' : start, ...count].join(', ')})`;
}

// ClickHouse's trim knows spaces only.
const trimLeft = (s: string) => `replaceRegexpOne(${s}, '^\\\\s+', '')`;
const trimRight = (s: string) => `replaceRegexpOne(${s}, '\\\\s+$', '')`;

const countChars = plain(['string'], 'int64', (s) => `toInt64(lengthUTF8(${s}))`);
const substring = plain(['string', 'count', 'count?'], 'string', writePart);
const ceil = plain(['float64'], 'float64', 'ceil');

/** The types of CAST, by every name that they have. */
const TYPES: Readonly<Record<string, PlainType>> = {
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

/** CAST and SAFE_CAST. JSON that is not of the type is NULL in both. @throws NotUnderstood */
export function cast(value: Value, name: string, isSafe: boolean): Value {
  const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
  if (type === undefined)
    throw reject(`casts to ${name.toUpperCase()}; known are ${Object.keys(TYPES).join(', ').toUpperCase()}`);
  if (value.type === 'null') return { type, sql: 'NULL' };
  if (type === 'string')
    return { type, sql: toText(value), ...(value.text !== undefined && { text: value.text }) };
  if (type === 'timestamp' || type === 'datetime' || type === 'date') return toTime(value, type, isSafe);
  if (isJson(value) || value.type === type) return { type, sql: as(value, type) };
  const write = PLAIN[`${value.type} ${type}`];
  if (write === undefined) throw rejectCast(value, type);
  return { type, sql: write(value.sql, isSafe ? 'OrNull' : '') };
}

/** Casts between other types, by both types. */
const PLAIN: Readonly<Record<string, (sql: string, suffix: '' | 'OrNull') => string>> = {
  'string int64': (sql, suffix) => `toInt64${suffix}(${sql})`,
  'string float64': (sql, suffix) => `toFloat64${suffix}(${sql})`,
  'string bool': (sql, suffix) => readBool(sql, suffix === '' ? `toBool(toInt64(${sql}))` : 'NULL'),
  'int64 float64': (sql) => `toFloat64(${sql})`,
  'int64 bool': (sql) => `(${sql} != 0)`,
  'float64 int64': roundToInteger,
  'bool int64': (sql) => `if(${sql}, 1, 0)`,
};

function rejectCast(value: Value, type: Type) {
  return reject(`casts a ${nameOf(value)} to ${type.toUpperCase()}, which BigQuery does not`);
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

function toTime(value: Value, type: TimeType, isSafe: boolean): Value {
  const { sql, text } = value;
  if (isTime(value)) {
    if (type === 'date') return { type, sql: `toDate(${sql})` };
    return value.type === 'date' ? { type, sql: `toDateTime64(${sql}, 6, 'UTC')` } : { ...value, type };
  }
  if (text !== undefined) return instantOf(text, type);
  if (isJson(value)) return { type, sql: as(value, type) };
  if (value.type !== 'string') throw rejectCast(value, type);
  // The engine reads other texts too, such as seconds since 1970.
  const time = `parseDateTime64BestEffort${isSafe ? 'OrNull' : ''}(if(match(${sql}, ${ISO}), ${sql}, ''), 6, 'UTC')`;
  return { type, sql: type === 'date' ? `toDate(${time})` : time };
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
    throw reject(`calls regexp_extract with a pattern of ${groups.length} groups; write others as (?:…)`);
  const [start, nth] = [Number(position), Number(occurrence)];
  if (start === 0 || nth === 0)
    throw reject('calls regexp_extract with a position or an occurrence of 0; both count from 1');
  if (nth > 1 && (AT_PLACE.test(pattern) || canBeEmpty(pattern)))
    throw reject(
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

const extract = plain(['string', 'pattern', 'count?', 'count?'], 'string', writeExtract);

/** A function with the name of the type that it casts to. */
const castTo = (name: PlainType) =>
  takes(1, 1, ([value = NULL], { translate }) => cast(translate(value), name, false));

/** Functions of texts and numbers, and casts, by name in lower case. */
export const VALUE_FUNCTIONS: Readonly<Record<string, BigQueryFunction>> = {
  lower: plain(['string'], 'string', 'lowerUTF8'),
  upper: plain(['string'], 'string', 'upperUTF8'),
  reverse: plain(['string'], 'string', 'reverseUTF8'),
  trim: plain(['string'], 'string', (s) => trimLeft(trimRight(s))),
  ltrim: plain(['string'], 'string', trimLeft),
  rtrim: plain(['string'], 'string', trimRight),
  concat: plain(['string…'], 'string', 'concat'),
  length: countChars,
  char_length: countChars,
  starts_with: plain(['string', 'string'], 'bool', 'startsWith'),
  ends_with: plain(['string', 'string'], 'bool', 'endsWith'),
  strpos: plain(['string', 'text'], 'int64', (s, part) => `toInt64(positionUTF8(${s}, ${part}))`),
  left: plain(['string', 'count'], 'string', 'leftUTF8'),
  right: plain(['string', 'count'], 'string', 'rightUTF8'),
  substr: substring,
  substring,
  replace: plain(['string', 'text', 'string'], 'string', 'replaceAll'),
  abs: plain(['float64'], 'float64', 'abs'),
  sign: plain(['float64'], 'float64', 'sign'),
  floor: plain(['float64'], 'float64', 'floor'),
  ceil,
  ceiling: ceil,
  trunc: plain(['float64'], 'float64', 'trunc'),
  sqrt: plain(['float64'], 'float64', 'sqrt'),
  round: plain(['float64', 'count?'], 'float64', (x, digits) =>
    digits === undefined ? roundAway(x) : `(${roundAway(`(${x} * exp10(${digits}))`)}) / exp10(${digits})`,
  ),
  mod: plain(['int64', 'int64'], 'int64', 'modulo'),
  div: plain(['int64', 'int64'], 'int64', 'intDiv'),
  safe_divide: plain(['float64', 'float64'], 'float64', (a, b) => `${a} / nullIf(${b}, 0)`),
  regexp_contains: plain(
    ['string', 'pattern'],
    'bool',
    (text, pattern) => `match(${text}, ${writePattern(pattern)})`,
  ),
  regexp_extract: extract,
  regexp_substr: extract,
  timestamp: castTo('timestamp'),
  datetime: castTo('datetime'),
  date: castTo('date'),
  string: castTo('string'),
};
