import { formatIso, formatTime, formatTimeMs, fromField, toField, type Zone } from './show.ts';
import { ownMember } from './values.ts';

const UNITS = {
  s: { ms: 1_000, name: 'second' },
  m: { ms: 60_000, name: 'minute' },
  h: { ms: 3_600_000, name: 'hour' },
  d: { ms: 86_400_000, name: 'day' },
} as const;

type Unit = keyof typeof UNITS;

/** The length of a range that ends now: `40m`. */
export type LastRange = `${number}${Unit}`;

/** Ten years: no store has older events, and each length up to it is an exact number of ms. */
const LAST_MAX_MS = 3_650 * UNITS.d.ms;

const LENGTH = /^(\d{1,9})? ?([smhdw]|(?:sec|second|min|minute|hr|hour|day|week)s?)$/;

/** Reads `40m`, `40 min`, `2 weeks`, `hour`. @returns undefined if it is not a length, or longer than ten years */
export function parseLast(text: string): LastRange | undefined {
  const [, digits, name = ''] = LENGTH.exec(text.trim().toLowerCase()) ?? [];
  if (name === '' || (digits === undefined && name.length < 3)) return undefined;
  const isWeeks = name.startsWith('w');
  const unit = isWeeks ? 'd' : (name.charAt(0) as Unit); // no name begins otherwise
  const count = Number(digits ?? 1) * (isWeeks ? 7 : 1);
  return count > 0 && count * UNITS[unit].ms <= LAST_MAX_MS ? `${count}${unit}` : undefined;
}

export function lastMs(range: LastRange): number {
  return Number.parseInt(range, 10) * unitOf(range).ms;
}

/** The length in its largest unit; a day in hours, as people say it. @returns undefined if it is not of whole seconds */
export function toLast(ms: number): LastRange | undefined {
  const units = Object.keys(UNITS).toReversed() as Unit[];
  const unit = units.find((one) => ms % UNITS[one].ms === 0 && !(one === 'd' && ms === UNITS.d.ms));
  return unit === undefined ? undefined : parseLast(`${ms / UNITS[unit].ms}${unit}`);
}

export function describeLast(range: LastRange): string {
  const count = Number.parseInt(range, 10);
  const { name } = unitOf(range);
  return count === 1 ? `Last ${name}` : `Last ${count} ${name}s`;
}

function unitOf(range: LastRange): (typeof UNITS)[Unit] {
  return UNITS[range.slice(-1) as Unit]; // parseLast has made it
}

export const QUICK_RANGES: readonly LastRange[] = ['15m', '1h', '6h', '24h', '7d', '30d'];

/** A range of time. `from` (inclusive) and `until` (exclusive) are ISO 8601 in UTC. */
export type TimeRange =
  | { readonly kind: 'last'; readonly range: LastRange }
  | { readonly kind: 'absolute'; readonly from: string; readonly until: string };

/** Reads `range=6h`, or an absolute range in `from` and `until`. @param prefix of their names */
export function readRange(query: URLSearchParams, prefix = ''): TimeRange | undefined {
  const [from = '', until = ''] = ['from', 'until'].map((name) => query.get(prefix + name) ?? '');
  if (!Number.isNaN(Date.parse(from)) && !Number.isNaN(Date.parse(until)))
    return { kind: 'absolute', from, until };
  const range = parseLast(query.get(`${prefix}range`) ?? '');
  return range && { kind: 'last', range };
}

/** What `readRange` reads; undefined: left out. */
export function rangeParameters(range: TimeRange, prefix = ''): Record<string, string | undefined> {
  const { kind: _, ...given } = range;
  const all = { range: undefined, from: undefined, until: undefined, ...given };
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [prefix + name, value]));
}

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
  const hasSeconds = hasMs || from % UNITS.m.ms !== 0 || until % UNITS.m.ms !== 0;
  const format = (ms: number) => {
    const text = hasMs ? formatTimeMs(ms, zone) : formatTime(ms, zone);
    return hasSeconds ? text : text.slice(0, -':00'.length);
  };
  const [start, end] = [format(from), format(until)];
  const [date = '', time = ''] = end.split(' ');
  return `${start} – ${start.startsWith(`${date} `) ? time : end}`;
}

const EPOCH_UNITS_PER_MS: Readonly<Record<number, number>> = { 10: 1e-3, 13: 1, 16: 1e3, 19: 1e6 };

/** Reads ISO 8601, in `zone` without one, or s, ms, µs or ns since the epoch. @returns in UTC; empty if it is neither */
function readInstant(text: string, zone: Zone): string {
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

/** Share of its length by which a range that ends now may have ended before. */
const NEAR = 0.1;

/** The range as long before or after. One that reaches the present ends now, and moves on with it. */
export function shiftRange(range: TimeRange, to: 'earlier' | 'later', nowMs: number): TimeRange {
  const { fromMs, untilMs } = resolveRange(range, nowMs);
  const byMs = (untilMs - fromMs) * (to === 'earlier' ? -1 : 1);
  return toRange(fromMs + byMs, untilMs + byMs, nowMs);
}

/** A range of twice the length around it; before the present if it would reach further. */
export function zoomOut(range: TimeRange, nowMs: number): TimeRange {
  if (range.kind === 'last') {
    const twice = toLast(2 * lastMs(range.range));
    return twice === undefined ? range : { kind: 'last', range: twice };
  }
  const { fromMs, untilMs } = resolveRange(range, nowMs);
  const halfMs = Math.round((untilMs - fromMs) / 2);
  return untilMs - fromMs > LAST_MAX_MS ? range : toRange(fromMs - halfMs, untilMs + halfMs, nowMs);
}

/** Whether there are later events than those of a range, as far as the clock can say. */
export function hasLater(range: TimeRange, nowMs: number): boolean {
  return range.kind === 'absolute' && resolveRange(range, nowMs).untilMs < nowMs;
}

function toRange(fromMs: number, untilMs: number, nowMs: number): TimeRange {
  const lengthMs = untilMs - fromMs;
  // Some seconds have passed since the range that it once was.
  const last = nowMs - untilMs > lengthMs * NEAR ? undefined : toLast(lengthMs);
  if (last !== undefined) return { kind: 'last', range: last };
  const endMs = Math.min(untilMs, Math.max(nowMs, 0));
  return { kind: 'absolute', from: formatIso(endMs - lengthMs), until: formatIso(endMs) };
}

interface Clock {
  readonly nowMs: number;
  readonly zone: Zone;
}

/** The longest text that is read; two instants with zones have 60. */
export const RANGE_TEXT_CHARS_MAX = 120;

const EXAMPLES = 'write a range such as now-40m, last 2 days, 07:00 to 08:30, or yesterday';
// A hyphen between two ends, not the one of `now - 40 minutes`.
const ENDS = / to | until | - (?!\d+ ?[a-z])|\.\.|[–—]/;

/** Reads a range as people write it: `now-40m`, `last 2 days`, `07:00 to 08:30`, `yesterday`. @returns a text: its fault */
export function readRangeText(text: string, clock: Clock): TimeRange | string {
  const given = text.trim().toLowerCase().slice(0, RANGE_TEXT_CHARS_MAX);
  const [start = '', end, more] = given.split(ENDS).map((part) => part.trim());
  if (more !== undefined) return `"${text}" has more than two ends; ${EXAMPLES}`;
  if (end === undefined || end === 'now') {
    const last = readLength(start);
    if (last !== undefined) return { kind: 'last', range: last };
  }
  if (end === undefined && start === 'yesterday') return readEnds('yesterday', 'today', clock);
  return readEnds(start, end ?? 'now', clock);
}

/** The length in `last 40 minutes`, `now-40m`, `-40m` or `40m`. */
function readLength(text: string): LastRange | undefined {
  const [, , length = ''] = /^(now ?-|-|last |past )? ?([a-z\d ]+)$/.exec(text) ?? [];
  return parseLast(length);
}

function readEnds(start: string, end: string, clock: Clock): TimeRange | string {
  const [fromMs, untilMs] = [readEnd(start, clock), readEnd(end, clock)];
  if (fromMs === undefined) return `"${start}" is not an instant; ${EXAMPLES}`;
  if (untilMs === undefined) return `"${end}" is not an instant; ${EXAMPLES}`;
  if (fromMs >= untilMs) return `"${start}" is not before "${end}"; write the earlier one first`;
  return { kind: 'absolute', from: formatIso(fromMs), until: formatIso(untilMs) };
}

function readEnd(text: string, { nowMs, zone }: Clock): number | undefined {
  if (text === 'now') return nowMs;
  const length = /^(now ?-|-)/.test(text) ? readLength(text) : undefined;
  if (length !== undefined) return nowMs - lastMs(length);
  const today = toField(nowMs, zone).slice(0, 10);
  // Noon of the day before: a day of the zone may have 23 hours or 25.
  const yesterday = toField(Date.parse(fromField(`${today}T12:00`, zone)) - UNITS.d.ms, zone).slice(0, 10);
  const isTime = /^\d{1,2}:\d\d/.test(text);
  const instant = isTime ? `${today} ${text.padStart(5, '0')}` : text;
  const day = ownMember({ today, yesterday }, text);
  const ms = Date.parse(readInstant(day ?? instant.toUpperCase(), zone));
  return Number.isNaN(ms) ? undefined : ms;
}

/** @returns the seconds that a zone is ahead of UTC at an instant, in seconds since the epoch */
export function offsetOf(zone: Zone): (seconds: number) => number {
  return zone === 'utc' ? () => 0 : (seconds) => -60 * new Date(seconds * 1000).getTimezoneOffset();
}

/** From `from`, before `until`, in seconds since the epoch. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

/** `2026-11-20 07:00 – 08:00`; with the zone's offsets if the clock changes within `range`, since two hours then have one name. */
export function formatSpan({ from, until }: Span, { zone, range }: { zone: Zone; range: Span }): string {
  if (from === until) return formatTime(from * 1000, zone);
  const text = describeRange({ kind: 'absolute', from: toIso(from), until: toIso(until) }, zone);
  const offsetAt = offsetOf(zone);
  if (offsetAt(range.from) === offsetAt(range.until)) return text;
  const offsets = new Set([from, until].map((time) => formatOffset(offsetAt(time))));
  return `${text} (${[...offsets].join(' – ')})`;
}

export function toIso(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

/** `UTC+05:30` */
function formatOffset(seconds: number): string {
  const minutes = Math.abs(Math.round(seconds / 60));
  const pad = (value: number) => String(value).padStart(2, '0');
  return `UTC${seconds < 0 ? '−' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
}
