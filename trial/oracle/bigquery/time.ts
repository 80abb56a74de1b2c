import type { Timestamp } from './value.ts';

export const MICROS = {
  microsecond: 1,
  millisecond: 1_000,
  second: 1_000_000,
  minute: 60_000_000,
  hour: 3_600_000_000,
  day: 86_400_000_000,
} as const;

export type Unit = keyof typeof MICROS;
export type TruncUnit = Exclude<Unit, 'microsecond'> | 'week' | 'month' | 'quarter' | 'year';
export type Part =
  | 'microsecond'
  | 'millisecond'
  | 'second'
  | 'minute'
  | 'hour'
  | 'day'
  | 'dayofweek'
  | 'dayofyear'
  | 'month'
  | 'quarter'
  | 'year';

// 1970-01-04 was a Sunday, with which BigQuery's weeks begin.
const FIRST_SUNDAY = 3 * MICROS.day;

function dateOf(micros: number): Date {
  return new Date(Math.floor(micros / 1000));
}

/** The beginning of the unit that an instant is in, UTC. */
export function truncate(micros: number, unit: TruncUnit): number {
  const date = dateOf(micros);
  const month = date.getUTCMonth();
  switch (unit) {
    case 'week':
      return floorTo(micros - FIRST_SUNDAY, 7 * MICROS.day) + FIRST_SUNDAY;
    case 'month':
      return Date.UTC(date.getUTCFullYear(), month) * 1000;
    case 'quarter':
      return Date.UTC(date.getUTCFullYear(), month - (month % 3)) * 1000;
    case 'year':
      return Date.UTC(date.getUTCFullYear(), 0) * 1000;
    default:
      return floorTo(micros, MICROS[unit]);
  }
}

function floorTo(micros: number, width: number): number {
  return Math.floor(micros / width) * width;
}

/** Whole units between two instants, cut towards zero. */
export function difference(a: number, b: number, unit: Unit): number {
  const whole = Math.trunc((a - b) / MICROS[unit]);
  return whole === 0 ? 0 : whole; // not -0
}

/** EXTRACT(part FROM instant), UTC. Sunday is day 1 of a week. */
export function extract(micros: number, part: Part): number {
  const date = dateOf(micros);
  switch (part) {
    case 'microsecond':
      return micros - floorTo(micros, MICROS.second);
    case 'millisecond':
      return date.getUTCMilliseconds();
    case 'second':
      return date.getUTCSeconds();
    case 'minute':
      return date.getUTCMinutes();
    case 'hour':
      return date.getUTCHours();
    case 'day':
      return date.getUTCDate();
    case 'dayofweek':
      return date.getUTCDay() + 1;
    case 'dayofyear':
      return (truncate(micros, 'day') - truncate(micros, 'year')) / MICROS.day + 1;
    case 'month':
      return date.getUTCMonth() + 1;
    case 'quarter':
      return Math.floor(date.getUTCMonth() / 3) + 1;
    case 'year':
      return date.getUTCFullYear();
  }
}

/** FORMAT_TIMESTAMP with the letters that the tests use. */
export function format(pattern: string, micros: number): string {
  const iso = dateOf(micros).toISOString();
  const letters: Record<string, string> = {
    Y: iso.slice(0, 4),
    m: iso.slice(5, 7),
    d: iso.slice(8, 10),
    H: iso.slice(11, 13),
    M: iso.slice(14, 16),
    S: iso.slice(17, 19),
    F: iso.slice(0, 10),
    T: iso.slice(11, 19),
    j: String(extract(micros, 'dayofyear')).padStart(3, '0'),
    y: iso.slice(2, 4),
    '%': '%',
  };
  return pattern.replaceAll(/%(.)/g, (_, letter: string) => letters[letter] ?? '?');
}

/** `2026-11-20T07:00:00`, with the fraction as 0, 3 or 6 digits. */
export function datetimeText(micros: number, separator = 'T'): string {
  const fraction = extract(micros, 'microsecond');
  const digits = String(fraction).padStart(6, '0');
  const shown = fraction === 0 ? '' : `.${digits.endsWith('000') ? digits.slice(0, 3) : digits}`;
  return `${dateOf(micros).toISOString().slice(0, 19).replace('T', separator)}${shown}`;
}

/** An instant from its ISO 8601 text in UTC, with up to six digits of a fraction; null for another text. */
export function parseInstant(text: string): number | null {
  const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?)?(?:Z|\+00(?::00)?)?$/.exec(text);
  if (match === null) return null;
  const ms = Date.parse(`${match[1]}T${match[2] ?? '00:00:00'}Z`);
  return Number.isNaN(ms) ? null : ms * 1000 + Number((match[3] ?? '').padEnd(6, '0'));
}

export function timestamp(micros: number): Timestamp {
  return { timestamp: micros };
}
