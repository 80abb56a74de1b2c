import { describeRange } from './range.ts';
import { formatTime, type Zone } from './time.ts';

/** Returns the seconds that a zone is ahead of UTC at an instant, in seconds since the epoch. */
type OffsetAt = (seconds: number) => number;

export function offsetOf(zone: Zone): OffsetAt {
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
