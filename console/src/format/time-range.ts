import { formatTime, formatTimeMs, fromField, type Zone } from './time.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Ranges that end now. */
export const QUICK_RANGES = [
  { id: '15m', label: 'Last 15 minutes', ms: 15 * MINUTE_MS },
  { id: '1h', label: 'Last hour', ms: HOUR_MS },
  { id: '6h', label: 'Last 6 hours', ms: 6 * HOUR_MS },
  { id: '24h', label: 'Last 24 hours', ms: DAY_MS },
  { id: '7d', label: 'Last 7 days', ms: 7 * DAY_MS },
  { id: '30d', label: 'Last 30 days', ms: 30 * DAY_MS },
] as const;

export type QuickRange = (typeof QUICK_RANGES)[number]['id'];

/** A range of time. `from` (inclusive) and `until` (exclusive) are ISO 8601 in UTC. */
export type TimeRange =
  | { readonly kind: 'last'; readonly range: QuickRange }
  | { readonly kind: 'absolute'; readonly from: string; readonly until: string };

/** The instants of a range, in ms since the epoch; NaN for texts that are not instants. */
export function resolveRange(range: TimeRange, nowMs: number): { fromMs: number; untilMs: number } {
  if (range.kind === 'absolute') return { fromMs: Date.parse(range.from), untilMs: Date.parse(range.until) };
  return { fromMs: nowMs - findQuick(range.range).ms, untilMs: nowMs };
}

/** `Last hour`, `2026-11-20 07:00 – 08:30`, with as many digits as the two instants have. */
export function describeRange(range: TimeRange, zone: Zone): string {
  if (range.kind === 'last') return findQuick(range.range).label;
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
  if (perMs !== undefined) return new Date(Number(trimmed) / perMs).toISOString().replace('.000Z', 'Z');
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

function findQuick(id: QuickRange) {
  return QUICK_RANGES.find((range) => range.id === id) ?? QUICK_RANGES[1];
}
