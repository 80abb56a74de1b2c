/** An instant: whole microseconds since 1970-01-01T00:00:00Z. Exact as a double until the year 2255. */
export type Micros = number;

export const MICROS_PER_MS = 1_000;
export const MICROS_PER_SECOND = 1_000_000;
export const MICROS_PER_MINUTE = 60 * MICROS_PER_SECOND;
export const MICROS_PER_DAY = 86_400 * MICROS_PER_SECOND;

/** The range that the engine's DateTime64(6) and a double both hold exactly: 1900 to June 2255. */
export const EARLIEST_MICROS: Micros = Date.UTC(1900, 0, 1) * MICROS_PER_MS;
export const LATEST_MICROS: Micros = Number.MAX_SAFE_INTEGER;

/**
 * The range of an event's timestamp: its day is a partition, and the engine's days go from 1970 to 2149. `toDate` wraps
 * around beyond them, so retention would treat an event of 2200 as one of 2020.
 */
export const EARLIEST_STORED_MICROS: Micros = 0;
export const LATEST_STORED_MICROS: Micros = Date.UTC(2149, 5, 7) * MICROS_PER_MS - 1;

// Extended (2026-11-20T07:00:00.123456Z) and basic (20261120T070000Z) ISO 8601, or only a date; `T` or a space between.
// The time may end after the hour or the minute; a fraction belongs to its last part. A zone is `Z`, `+01`, `+0100` or
// `+01:00`; without one the time is UTC. A space is read as `+` there: a `+` in a query string becomes a space if it is
// not percent-encoded. PostgreSQL's logs have a space before the zone, and its name: `2026-11-20 07:00:00.123 UTC`.
const TIME = String.raw`(\d{2})(?::(\d{2})(?::(\d{2}))?)?(?:[.,](\d{1,18}))?`;
const ZONE = String.raw`(?: ?(Z|UTC|GMT|[+\- ]\d{2}(?::?\d{2})?))?`;
const EXTENDED = new RegExp(String.raw`^(\d{4})-(\d{2})-(\d{2})(?:[T ]${TIME}${ZONE})?$`, 'i');
const BASIC =
  /^(\d{4})(\d{2})(\d{2})(?:[Tt](\d{2})(?:(\d{2})(\d{2})?)?(?:[.,](\d{1,18}))?(Z|z|[+\- ]\d{2}(?::?\d{2})?)?)?$/;

/**
 * Parses an ISO 8601 timestamp, by one rule for parameters, events, keys and definitions. Surrounding space is ignored.
 * `24:00:00` is the end of a day. Digits beyond the microsecond are cut off. An instant outside the engine's range is
 * clamped to it, which changes no comparison with a stored timestamp.
 *
 * @returns microseconds; `undefined` if the text is not a timestamp, or its day or time does not exist
 */
export function parseInstant(text: string): Micros | undefined {
  const trimmed = text.trim();
  const match = EXTENDED.exec(trimmed) ?? BASIC.exec(trimmed);
  if (match === null) return undefined;
  const [, year, month, day, hour = '0', minute, second, fraction = '', zone] = match;
  const offsetMinutes = parseZone(zone);
  const time = { hour: Number(hour), minute: Number(minute ?? 0), second: Number(second ?? 0) };
  if (offsetMinutes === undefined || !isTime(time, fraction)) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return undefined;
  date.setUTCHours(time.hour, time.minute - offsetMinutes, time.second);
  const last = second !== undefined ? MICROS_PER_SECOND : MICROS_PER_MINUTE * (minute !== undefined ? 1 : 60);
  const micros = date.getTime() * MICROS_PER_MS + toMicros(fraction, last);
  return Math.min(Math.max(micros, EARLIEST_MICROS), LATEST_MICROS);
}

function isTime(time: { hour: number; minute: number; second: number }, fraction: string): boolean {
  const { hour, minute, second } = time;
  if (hour === 24) return minute === 0 && second === 0 && !/[1-9]/.test(fraction);
  return hour < 24 && minute < 60 && second < 60;
}

// Digits of a fraction of a second.
const MICROS_DIGITS = 6;

/** Returns the decimal fraction `0.digits` of `unit`, exactly: a double would be off by a microsecond for some. */
function toMicros(digits: string, unit: Micros): Micros {
  if (digits === '') return 0;
  if (unit === MICROS_PER_SECOND) return Number(digits.slice(0, MICROS_DIGITS).padEnd(MICROS_DIGITS, '0'));
  return Number((BigInt(digits) * BigInt(unit)) / 10n ** BigInt(digits.length));
}

/** Formats an instant for the engine: `2026-11-20 07:00:00.123456`, UTC. */
export function formatInstant(micros: Micros): string {
  const ms = Math.floor(micros / MICROS_PER_MS);
  const rest = micros - ms * MICROS_PER_MS;
  const iso = new Date(ms).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 23)}${rest < 10 ? '00' : rest < 100 ? '0' : ''}${rest}`;
}

function parseZone(zone: string | undefined): number | undefined {
  if (zone === undefined || zone > '9') return 0; // a name
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', '') || '0');
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

/** Writes ms since the epoch as ISO 8601. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** The same; null for a time that is not known. */
export function isoTimeOrNull(ms: number | undefined): string | null {
  return ms === undefined || !Number.isFinite(ms) ? null : isoTime(ms);
}
