import { type Micros, parseInstant } from '../lib/instant.ts';

const EPOCH = /^(\d{1,19})(?:\.(\d{1,18}))?$/;

/**
 * The instant that an event's `timestamp` names: ISO 8601 as `parseInstant` reads it, or a count since 1970 whose unit its digits
 * tell: up to 11 before the point are seconds, up to 14 milliseconds, up to 17 microseconds, more nanoseconds.
 *
 * @param text the JSON text of the value, so that a count beyond 2^53 is read exactly
 * @returns `undefined` when it cannot be read as a timestamp
 */
export function parseTimestamp(text: string): Micros | undefined {
  const value = text.startsWith('"') ? (JSON.parse(text) as string).trim() : text;
  const epoch = EPOCH.exec(value);
  // Eight digits in a text are a date, 20261120, as in ISO 8601's basic form.
  if (epoch === null || (text.startsWith('"') && value.length === 8)) return parseInstant(value);
  const [, digits = '', fraction = ''] = epoch;
  if (digits.length > 17) return Number(digits.slice(0, -3));
  const shift = digits.length > 14 ? 0 : digits.length > 11 ? 3 : 6;
  return Number(digits + fraction.slice(0, shift).padEnd(shift, '0'));
}
