import { describeRange } from './range.ts';
import { formatTime, type Zone } from './time.ts';

/** Returns the seconds that a zone is ahead of UTC at an instant, in seconds since the epoch. */
export type OffsetAt = (seconds: number) => number;

export function offsetOf(zone: Zone): OffsetAt {
  return zone === 'utc' ? () => 0 : (seconds) => -60 * new Date(seconds * 1000).getTimezoneOffset();
}

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
const STEPS = [
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 28, 91, 182, 364, 1820].map((count) => count * DAY),
];

export interface Ticks {
  readonly stepSeconds: number;
  /** Seconds since the epoch: round times of the zone. */
  readonly times: readonly number[];
}

/** The fewest round times of the zone between two instants that leave as little room as `max` ticks do. */
export function findTicks(
  from: number,
  until: number,
  { max, offsetAt }: { max: number; offsetAt: OffsetAt },
): Ticks {
  const least = (until - from) / Math.max(1, max);
  const stepSeconds = STEPS.find((step) => step >= least) ?? Math.ceil(least / DAY) * DAY;
  const times: number[] = [];
  const first = Math.ceil((from + offsetAt(from)) / stepSeconds) * stepSeconds;
  for (let local = first; ; local += stepSeconds) {
    const time = toInstant(local, offsetAt);
    if (time > until || times.length > max) return { stepSeconds, times };
    const isShown = time + offsetAt(time) === local; // not in the hour that the clock leaves out
    if (time >= from && isShown) times.push(time);
  }
}

/** Returns the instant of a local time; another one if a change of the clock leaves it out. */
function toInstant(local: number, offsetAt: OffsetAt): number {
  return local - offsetAt(local - offsetAt(local));
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `07:00`, with the day in a second line where it begins; `20 Nov` with the year for steps of days. */
export function labelTicks({ stepSeconds, times }: Ticks, offsetAt: OffsetAt): string[] {
  let before = '';
  return times.map((time) => {
    const iso = toIso(time + offsetAt(time));
    const [date = '', clock = ''] = iso.split('T');
    const [year = '', month = '', day = ''] = date.split('-');
    const named = `${Number(day)} ${MONTHS[Number(month) - 1]}`;
    const isDays = stepSeconds >= DAY;
    const label = isDays ? named : clock.slice(0, stepSeconds < MINUTE ? 8 : 5);
    const group = isDays ? year : named;
    const text = group === before ? label : `${label}\n${group}`;
    before = group;
    return text;
  });
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
  const minutes = Math.abs(Math.round(seconds / MINUTE));
  const pad = (value: number) => String(value).padStart(2, '0');
  return `UTC${seconds < 0 ? '−' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
}
