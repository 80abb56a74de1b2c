import { describeLast, type LastRange, lastMs } from './last-range.ts';
import { formatIso, formatTime, formatTimeMs, fromField, type Zone } from './time.ts';

const MINUTE_MS = 60_000;

/** Ranges that end now and are one click away. */
export const QUICK_RANGES: readonly LastRange[] = ['15m', '1h', '6h', '24h', '7d', '30d'];

/** A range of time. `from` (inclusive) and `until` (exclusive) are ISO 8601 in UTC. */
export type TimeRange =
  | { readonly kind: 'last'; readonly range: LastRange }
  | { readonly kind: 'absolute'; readonly from: string; readonly until: string };

/** The instants of a range, in ms since the epoch; NaN for texts that are not instants. */
export function resolveRange(range: TimeRange, nowMs: number): { fromMs: number; untilMs: number } {
  if (range.kind === 'absolute') return { fromMs: Date.parse(range.from), untilMs: Date.parse(range.until) };
  return { fromMs: nowMs - lastMs(range.range), untilMs: nowMs };
}

/** `Last hour`, `2026-11-20 07:00 – 08:30`, with as many digits as the two instants have. */
export function describeRange(range: TimeRange, zone: Zone): string {
  if (range.kind === 'last') return describeLast(range.range);
  const [from, until] = [Date.parse(range.from), Date.parse(range.until)];
  const hasMs = from % 1000 !== 0 || until % 1000 !== 0;
  const hasSeconds = hasMs || from % MINUTE_MS !== 0 || until % MINUTE_MS !== 0;
  const format = (ms: number) => {
    const text = hasMs ? formatTimeMs(ms, zone) : formatTime(ms, zone);
    return hasSeconds ? text : text.slice(0, -':00'.length);
  };
  const [start, end] = [format(from), format(until)];
  const [date = '', time = ''] = end.split(' ');
  return `${start} – ${start.startsWith(`${date} `) ? time : end}`;
}

/** Finds the faults of the texts of the two fields, as `fromField` reads them. */
export function findRangeFaults(
  from: string,
  until: string,
  zone: Zone,
): { readonly from?: string; readonly until?: string } {
  const missing = 'is empty or incomplete; enter a date and a time';
  const [start, end] = [fromField(from, zone), fromField(until, zone)];
  const faults = { ...(start === '' && { from: missing }), ...(end === '' && { until: missing }) };
  if (start === '' || end === '' || Date.parse(start) < Date.parse(end)) return faults;
  return { until: 'must be later than From; enter a later time here, or an earlier one there' };
}

const EPOCH_UNITS_PER_MS: Readonly<Record<number, number>> = { 10: 1e-3, 13: 1, 16: 1e3, 19: 1e6 };

/**
 * Reads a pasted instant: ISO 8601 with or without zone and time, or a number of s, ms, µs or ns since the epoch.
 *
 * @param zone applies if the text names none
 * @returns ISO 8601 in UTC, empty if it is not an instant
 */
export function readInstant(text: string, zone: Zone): string {
  const trimmed = text.trim().replace(/^"(.*)"$/, '$1');
  const perMs = /^\d+$/.test(trimmed) ? EPOCH_UNITS_PER_MS[trimmed.length] : undefined;
  if (perMs !== undefined) return formatIso(Number(trimmed) / perMs);
  const parts =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?) ?(?:(Z)|([+-]\d\d):?(\d\d))?)?$/i.exec(
      trimmed,
    );
  if (parts === null) return '';
  const [, date = '', time = '00:00', utc, hours, minutes] = parts;
  const instant = `${date}T${time.replace(',', '.')}`;
  if (hours !== undefined) return fromField(`${instant}${hours}:${minutes}`, 'local'); // the offset decides
  return fromField(instant, utc === undefined ? zone : 'utc');
}
