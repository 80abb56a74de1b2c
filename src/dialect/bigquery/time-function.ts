import { EARLIEST_MICROS, LATEST_MICROS } from '../../lib/instant.ts';
import { type Expression, reject } from './parse/tree.ts';
import type { Context } from './scope.ts';
import { type BigQueryFunction, NULL, plain, takes } from './signature.ts';
import { as, type Value } from './value.ts';

/** A part of a time, in ClickHouse's SQL with `$` for the time. */
interface Part {
  /** Given if it always takes the same time. */
  readonly micros?: number;
  /** Its beginning. */
  readonly start?: string;
  /** Its name in functions such as `addHours`. */
  readonly unit?: string;
  /** What EXTRACT returns. */
  readonly field?: string;
}

const PARTS: Readonly<Record<string, Part>> = {
  microsecond: { micros: 1, start: '$', unit: 'Microseconds', field: 'toMicrosecond($)' },
  millisecond: {
    micros: 1_000,
    start: 'toStartOfMillisecond($)',
    unit: 'Milliseconds',
    field: 'toMillisecond($)',
  },
  second: { micros: 1_000_000, start: 'toStartOfSecond($)', unit: 'Seconds', field: 'toSecond($)' },
  minute: { micros: 60_000_000, start: 'toStartOfMinute($)', unit: 'Minutes', field: 'toMinute($)' },
  hour: { micros: 3_600_000_000, start: 'toStartOfHour($)', unit: 'Hours', field: 'toHour($)' },
  day: { micros: 86_400_000_000, start: 'toStartOfDay($)', unit: 'Days', field: 'toDayOfMonth($)' },
  dayofweek: { field: 'toDayOfWeek($, 3)' }, // 1 is Sunday
  dayofyear: { field: 'toDayOfYear($)' },
  week: { start: 'toStartOfWeek($, 0)', unit: 'Weeks', field: 'toWeek($, 0)' }, // begins on Sunday
  isoweek: { start: 'toStartOfWeek($, 1)', field: 'toISOWeek($)' }, // begins on Monday
  month: { start: 'toStartOfMonth($)', unit: 'Months', field: 'toMonth($)' },
  quarter: { start: 'toStartOfQuarter($)', unit: 'Quarters', field: 'toQuarter($)' },
  year: { start: 'toStartOfYear($)', unit: 'Years', field: 'toYear($)' },
  isoyear: { field: 'toISOYear($)' },
};

/** @throws NotUnderstood for a part that cannot be used so */
function pick<K extends keyof Part>(use: K, part: string): NonNullable<Part[K]> {
  const found = Object.hasOwn(PARTS, part) ? PARTS[part]?.[use] : undefined;
  if (found !== undefined) return found;
  const known = Object.keys(PARTS).filter((one) => PARTS[one]?.[use] !== undefined);
  throw reject(`has the part ${part} of a time; known there are ${known.join(', ')}`);
}

export function writeExtract(part: string, time: string): string {
  return `toInt64(${pick('field', part).replace('$', () => time)})`;
}

/** Whole parts that have passed. */
function writeElapsed(a: string, b: string, part: string): string {
  return `intDiv(toUnixTimestamp64Micro(${a}) - toUnixTimestamp64Micro(${b}), ${pick('micros', part)})`;
}

const truncate = (time: string, part: string) =>
  `toDateTime64(${pick('start', part).replace('$', () => time)}, 6, 'UTC')`;

/** A time and an INTERVAL after it, or before it. */
const moved = (type: Move['type'], sign: Move['sign']) =>
  takes(2, 2, ([time = NULL, interval = NULL], context) =>
    addInterval(context.translate(time), interval, { type, sign, context }),
  );

/** Codes of formats. Those without another form are the engine's own. */
const CODES = 'YmdHMSyjbaApIFTXRDZz%';
const FORMATS: Readonly<Record<string, string>> = {
  M: '%i',
  A: '%W',
  F: '%Y-%m-%d',
  T: '%H:%i:%S',
  X: '%H:%i:%S',
  R: '%H:%i',
  D: '%m/%d/%y',
  Z: 'UTC',
  z: '+0000',
};

/** @param format a literal in quotes */
function writeFormat(format: string): string {
  return format.replace(/%(E\*S|.?)/gs, (_, code: string) => {
    if (code !== '' && CODES.includes(code)) return FORMATS[code] ?? `%${code}`;
    throw reject(`has %${code} in a format; known are ${CODES.replace(/./g, ' %$&').trim()}`);
  });
}

/** Patterns of what stands for a code in a text that the engine reads by itself; of others one or two digits. */
const PARSED: Readonly<Record<string, string>> = {
  '%Y': '\\d{4}',
  '%E*S': '\\d{1,2}(?:[.]\\d+)?',
  '%Z': '(?:UTC|Z)',
  '%Ez': '(?:Z|[+-]\\d{2}:?\\d{2})',
  '%z': '(?:Z|[+-]\\d{2}:?\\d{2})',
};

const ISO = /^%Y-%m-%d(?:[T ]%H:%M:%(?:S|E\*S))? ?(?:%Z|%z|%Ez|Z)?$/;

/** A text of another format fails, as in BigQuery: the engine cannot read the empty text. */
function writeParse(format: string, text: string): string {
  const bare = format.slice(1, -1);
  if (bare === '%s') return `fromUnixTimestamp64Micro(toInt64(${text}) * 1000000, 'UTC')`;
  const full = bare.replaceAll('%F', '%Y-%m-%d').replaceAll(/%[TX]/g, '%H:%M:%S');
  if (!ISO.test(full)) throw reject(`has the format ${format}; known are %s and such as %Y-%m-%dT%H:%M:%S`);
  const pattern = full.replace(/%(?:E\*S|Ez|.)/g, (code) => PARSED[code] ?? '\\d{1,2}');
  const checked = `if(match(${text}, '^${pattern.replaceAll('\\', '\\\\')}$'), ${text}, '')`;
  return `parseDateTime64BestEffort(${checked}, 6, 'UTC')`;
}

const micros = (time: string, unit: string) => `intDiv(toUnixTimestamp64Micro(${time}), ${unit})`;
const fromMicros = (count: string, unit: string) => `fromUnixTimestamp64Micro(${count} * ${unit}, 'UTC')`;

const clock = (type: Move['type']) => takes(0, 0, (_, { now }) => ({ type, sql: NOW, instant: now }));

export const TIME_FUNCTIONS: Readonly<Record<string, BigQueryFunction>> = {
  current_timestamp: clock('timestamp'),
  current_datetime: clock('datetime'),
  current_date: plain([], 'date', () => `toDate(${NOW})`),
  timestamp_trunc: plain(['timestamp', 'part'], 'timestamp', truncate),
  datetime_trunc: plain(['datetime', 'part'], 'datetime', truncate),
  timestamp_add: moved('timestamp', 'add'),
  timestamp_sub: moved('timestamp', 'subtract'),
  datetime_add: moved('datetime', 'add'),
  datetime_sub: moved('datetime', 'subtract'),
  timestamp_diff: plain(['timestamp', 'timestamp', 'part'], 'int64', writeElapsed),
  format_timestamp: plain(
    ['text', 'timestamp'],
    'string',
    (format, time) => `formatDateTime(${time}, ${writeFormat(format)})`,
  ),
  parse_timestamp: plain(['text', 'string'], 'timestamp', writeParse),
  unix_seconds: plain(['timestamp'], 'int64', (time) => micros(time, '1000000')),
  unix_millis: plain(['timestamp'], 'int64', (time) => micros(time, '1000')),
  unix_micros: plain(['timestamp'], 'int64', (time) => `toUnixTimestamp64Micro(${time})`),
  timestamp_seconds: plain(['int64'], 'timestamp', (n) => fromMicros(n, '1000000')),
  timestamp_millis: plain(['int64'], 'timestamp', (n) => fromMicros(n, '1000')),
  timestamp_micros: plain(['int64'], 'timestamp', (n) => fromMicros(n, '1')),
};

/** The instant of the query. */
const NOW = "toDateTime64(@now, 6, 'UTC')";

interface Move {
  readonly type: 'timestamp' | 'datetime';
  readonly sign: 'add' | 'subtract';
  readonly context: Context;
}

/** A time and an INTERVAL before or after it. */
export function addInterval(time: Value, interval: Expression, { type, sign, context }: Move): Value {
  if (interval.kind !== 'interval') throw reject('has no INTERVAL such as INTERVAL 1 HOUR there');
  const { part } = interval;
  const value = context.translate(interval.count);
  const count = value.text !== undefined && /^-?\d{1,9}$/.test(value.text) ? value.text : as(value, 'int64');
  const number = /^\(?-?\d{1,9}\)?$/.test(count) ? Number(count.replace(/[()]/g, '')) : undefined;
  const isFixed = !/^(?:week|month|quarter|year)$/.test(part);
  const micros = number === undefined || !isFixed ? undefined : number * pick('micros', part);
  const sql = `${sign}${pick('unit', part)}(${as(time, type)}, ${count})`;
  const { instant } = time;
  if (instant === undefined || micros === undefined) return { type, sql };
  const moved = sign === 'add' ? instant + micros : instant - micros;
  if (moved < EARLIEST_MICROS || moved > LATEST_MICROS)
    throw reject('has an INTERVAL that leads beyond the years 1900 to 2255');
  return { type, sql, instant: moved };
}
