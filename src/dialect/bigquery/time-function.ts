import type { Expression } from './parse/tree.ts';
import type { Context } from './scope.ts';
import { as, type BigQueryFunction, type Type, type Value, WrongType } from './value.ts';

/** Microseconds of the parts that always take the same time. */
const MICROS: Readonly<Record<string, number>> = {
  microsecond: 1,
  millisecond: 1_000,
  second: 1_000_000,
  minute: 60_000_000,
  hour: 3_600_000_000,
  day: 86_400_000_000,
};

/** The beginning of a part. Weeks begin on Sunday, ISO weeks on Monday. */
const STARTS: Readonly<Record<string, (time: string) => string>> = {
  microsecond: (time) => time,
  millisecond: (time) => `toStartOfMillisecond(${time})`,
  second: (time) => `toStartOfSecond(${time})`,
  minute: (time) => `toStartOfMinute(${time})`,
  hour: (time) => `toStartOfHour(${time})`,
  day: (time) => `toStartOfDay(${time})`,
  week: (time) => `toStartOfWeek(${time}, 0)`,
  isoweek: (time) => `toStartOfWeek(${time}, 1)`,
  month: (time) => `toStartOfMonth(${time})`,
  quarter: (time) => `toStartOfQuarter(${time})`,
  year: (time) => `toStartOfYear(${time})`,
};

const ADDED: Readonly<Record<string, string>> = {
  microsecond: 'Microseconds',
  millisecond: 'Milliseconds',
  second: 'Seconds',
  minute: 'Minutes',
  hour: 'Hours',
  day: 'Days',
  week: 'Weeks',
  month: 'Months',
  quarter: 'Quarters',
  year: 'Years',
};

/** EXTRACT. */
const FIELDS: Readonly<Record<string, (time: string) => string>> = {
  microsecond: (time) => `toMicrosecond(${time})`,
  millisecond: (time) => `toMillisecond(${time})`,
  second: (time) => `toSecond(${time})`,
  minute: (time) => `toMinute(${time})`,
  hour: (time) => `toHour(${time})`,
  day: (time) => `toDayOfMonth(${time})`,
  dayofweek: (time) => `toDayOfWeek(${time}, 3)`, // 1 is Sunday
  dayofyear: (time) => `toDayOfYear(${time})`,
  week: (time) => `toWeek(${time}, 0)`,
  isoweek: (time) => `toISOWeek(${time})`,
  month: (time) => `toMonth(${time})`,
  quarter: (time) => `toQuarter(${time})`,
  year: (time) => `toYear(${time})`,
  isoyear: (time) => `toISOYear(${time})`,
};

function pick<T>(table: Readonly<Record<string, T>>, part: string): T {
  const found = Object.hasOwn(table, part) ? table[part] : undefined;
  if (found !== undefined) return found;
  throw new WrongType(`has the part ${part} of a time; known there are ${Object.keys(table).join(', ')}`);
}

export function writeExtract(part: string, time: string): string {
  return `toInt64(${pick(FIELDS, part)(time)})`;
}

/** Whole parts that have passed. */
function writeElapsed(a: string, b: string, part: string): string {
  return `intDiv(toUnixTimestamp64Micro(${a}) - toUnixTimestamp64Micro(${b}), ${pick(MICROS, part)})`;
}

/** Microseconds of `count` parts. @throws WrongType for a part that is not always as long */
function microsOf(part: string): number {
  return pick(MICROS, part);
}

const truncate = (time: string, part: string) => `toDateTime64(${pick(STARTS, part)(time)}, 6, 'UTC')`;

/** A time with a count of parts added. @throws WrongType */
function writeAdded(
  sign: 'add' | 'subtract',
  time: string,
  { part, count }: { part: string; count: string },
): string {
  return `${sign}${pick(ADDED, part)}(${time}, ${count})`;
}

/** The four functions of an INTERVAL are written by `writeAdded`. */
const moved = (type: 'timestamp' | 'datetime'): BigQueryFunction => ({
  args: [type, 'interval'],
  type,
  write: (time) => time,
});

const FORMATS: Readonly<Record<string, string>> = {
  Y: '%Y',
  m: '%m',
  d: '%d',
  H: '%H',
  M: '%i',
  S: '%S',
  y: '%y',
  j: '%j',
  b: '%b',
  a: '%a',
  A: '%W',
  p: '%p',
  I: '%I',
  F: '%Y-%m-%d',
  T: '%H:%i:%S',
  X: '%H:%i:%S',
  R: '%H:%i',
  D: '%m/%d/%y',
  Z: 'UTC',
  z: '+0000',
  '%': '%%',
};

/** @param format a literal in quotes */
function writeFormat(format: string): string {
  return format.replace(/%(E\*S|.?)/gs, (_, code: string) => {
    const written = Object.hasOwn(FORMATS, code) ? FORMATS[code] : undefined;
    if (written !== undefined) return written;
    throw new WrongType(
      `has %${code} in a format; known are ${Object.keys(FORMATS)
        .map((one) => `%${one}`)
        .join(' ')}`,
    );
  });
}

/** Formats of texts that the engine reads by itself, with the pattern of each. */
const PARSED: Readonly<Record<string, string>> = {
  '%Y': '\\d{4}',
  '%m': '\\d{1,2}',
  '%d': '\\d{1,2}',
  '%H': '\\d{1,2}',
  '%M': '\\d{1,2}',
  '%S': '\\d{1,2}',
  '%E*S': '\\d{1,2}(?:[.]\\d+)?',
  '%F': '\\d{4}-\\d{1,2}-\\d{1,2}',
  '%T': '\\d{1,2}:\\d{1,2}:\\d{1,2}',
  '%X': '\\d{1,2}:\\d{1,2}:\\d{1,2}',
  '%Z': '(?:UTC|Z)',
  '%Ez': '(?:Z|[+-]\\d{2}:?\\d{2})',
  '%z': '(?:Z|[+-]\\d{2}:?\\d{2})',
};

const ISO = /^(?:%Y-%m-%d|%F)(?:[T ](?:%H:%M:%S|%H:%M:%E\*S|%T|%X))? ?(?:%Z|%z|%Ez|Z)?$/;

/** A text of another format fails, as in BigQuery: the engine cannot read the empty text. */
function writeParse(format: string, text: string): string {
  const bare = format.slice(1, -1);
  if (bare === '%s') return `fromUnixTimestamp64Micro(toInt64(${text}) * 1000000, 'UTC')`;
  if (!ISO.test(bare))
    throw new WrongType(`has the format ${format}; known are %s and such as %Y-%m-%dT%H:%M:%S`);
  const pattern = bare.replace(/%(?:E\*S|Ez|.)/g, (code) => PARSED[code] ?? code);
  const checked = `if(match(${text}, '^${pattern.replaceAll('\\', '\\\\')}$'), ${text}, '')`;
  return `parseDateTime64BestEffort(${checked}, 6, 'UTC')`;
}

const micros = (time: string, unit: string) => `intDiv(toUnixTimestamp64Micro(${time}), ${unit})`;
const fromMicros = (count: string, unit: string) => `fromUnixTimestamp64Micro(${count} * ${unit}, 'UTC')`;

export const TIME_FUNCTIONS: Readonly<Record<string, BigQueryFunction>> = {
  current_timestamp: { args: [], type: 'timestamp', write: () => NOW },
  current_datetime: { args: [], type: 'datetime', write: () => NOW },
  current_date: { args: [], type: 'date', write: () => `toDate(${NOW})` },
  timestamp_trunc: { args: ['timestamp', 'part'], type: 'timestamp', write: truncate },
  datetime_trunc: { args: ['datetime', 'part'], type: 'datetime', write: truncate },
  timestamp_add: moved('timestamp'),
  timestamp_sub: moved('timestamp'),
  datetime_add: moved('datetime'),
  datetime_sub: moved('datetime'),
  timestamp_diff: { args: ['timestamp', 'timestamp', 'part'], type: 'int64', write: writeElapsed },
  format_timestamp: {
    args: ['text', 'timestamp'],
    type: 'string',
    write: (format, time) => `formatDateTime(${time}, ${writeFormat(format)})`,
  },
  parse_timestamp: { args: ['text', 'string'], type: 'timestamp', write: writeParse },
  unix_seconds: { args: ['timestamp'], type: 'int64', write: (time) => micros(time, '1000000') },
  unix_millis: { args: ['timestamp'], type: 'int64', write: (time) => micros(time, '1000') },
  unix_micros: { args: ['timestamp'], type: 'int64', write: (time) => `toUnixTimestamp64Micro(${time})` },
  timestamp_seconds: { args: ['int64'], type: 'timestamp', write: (n) => fromMicros(n, '1000000') },
  timestamp_millis: { args: ['int64'], type: 'timestamp', write: (n) => fromMicros(n, '1000') },
  timestamp_micros: { args: ['int64'], type: 'timestamp', write: (n) => fromMicros(n, '1') },
};

/** The instant of the query. */
const NOW = "toDateTime64(@now, 6, 'UTC')";

/** INTERVAL. `micros` is given if it is constant, and always as long. */
function readInterval(expression: Expression, { translate }: Context) {
  if (expression.kind !== 'interval') throw new WrongType('has no INTERVAL such as INTERVAL 1 HOUR there');
  const { part } = expression;
  const count = translate(expression.count);
  const sql = count.text !== undefined && /^-?\d{1,9}$/.test(count.text) ? count.text : as(count, 'int64');
  const number = /^\(?-?\d{1,9}\)?$/.test(sql) ? Number(sql.replace(/[()]/g, '')) : undefined;
  const isFixed = !/^(?:week|month|quarter|year)$/.test(part);
  const micros = number === undefined || !isFixed ? undefined : number * microsOf(part);
  return { part, count: sql, micros };
}

// Times of the engine; the last is the largest number of microseconds that a double holds exactly.
const INSTANT_MIN = Date.UTC(1900, 0) * 1000;
const INSTANT_MAX = Number.MAX_SAFE_INTEGER;

/** A time and an INTERVAL before or after it. */
export function addInterval(
  time: Value,
  interval: Expression,
  {
    type,
    sign,
    context,
  }: { readonly type: Type; readonly sign: 'add' | 'subtract'; readonly context: Context },
): Value {
  const wanted = type === 'datetime' ? 'datetime' : 'timestamp';
  const { part, count, micros } = readInterval(interval, context);
  const sql = writeAdded(sign, as(time, wanted), { part, count });
  const { instant } = time;
  if (instant === undefined || micros === undefined) return { type: wanted, sql };
  const moved = sign === 'add' ? instant + micros : instant - micros;
  if (moved < INSTANT_MIN || moved > INSTANT_MAX)
    throw new WrongType('has an INTERVAL that leads beyond the years 1900 to 2255');
  return { type: wanted, sql, instant: moved };
}
