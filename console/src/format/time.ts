export type Zone = 'local' | 'utc';

interface Parts {
  readonly date: string;
  readonly time: string;
  readonly ms: string;
}

function partsOf(ms: number, zone: Zone): Parts {
  const aheadMs = zone === 'utc' ? 0 : -60_000 * new Date(ms).getTimezoneOffset();
  const shown = new Date(ms + aheadMs);
  if (Number.isNaN(shown.getTime())) return { date: '', time: '', ms: '' };
  const [date = '', time = ''] = shown.toISOString().split('T');
  return { date, time: time.slice(0, 8), ms: time.slice(9, 12) };
}

/** `2026-11-20 07:00:00` */
export function formatTime(ms: number, zone: Zone): string {
  const { date, time } = partsOf(ms, zone);
  return `${date} ${time}`;
}

/** `2026-11-20 07:00:00.123` */
export function formatTimeMs(ms: number, zone: Zone): string {
  const { date, time, ms: fraction } = partsOf(ms, zone);
  return `${date} ${time}.${fraction}`;
}

/** `3 min ago`, `in 2 h` */
export function formatAgo(ms: number, nowMs: number): string {
  const seconds = Math.round((nowMs - ms) / 1000);
  const size = Math.abs(seconds);
  if (size < 5) return 'just now';
  const [value, unit] =
    size < 60
      ? [size, 's']
      : size < 3600
        ? [Math.round(size / 60), 'min']
        : size < 172_800
          ? [Math.round(size / 3600), 'h']
          : [Math.round(size / 86_400), 'd'];
  return seconds < 0 ? `in ${value} ${unit}` : `${value} ${unit} ago`;
}

/** The value of a date-time field for an instant, as ISO 8601 or ms since the epoch; empty if it is not an instant. */
export function toField(instant: string | number, zone: Zone): string {
  const ms = new Date(instant).getTime();
  if (Number.isNaN(ms)) return '';
  const { date, time } = partsOf(ms, zone);
  return `${date}T${time}`;
}

/** Returns the instant in such a field as ISO 8601; empty if it is not an instant. */
export function fromField(text: string, zone: Zone): string {
  if (text === '') return '';
  const ms = Date.parse(zone === 'utc' ? `${text}Z` : text);
  return Number.isNaN(ms) ? '' : formatIso(ms);
}

/** `2026-11-20T07:00:00Z`, with ms if there are some. */
export function formatIso(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

/** A timestamp of microseconds since the epoch as ISO 8601 with every digit. */
export function fromMicros(micros: number): string {
  const ms = Math.floor(micros / 1000);
  return new Date(ms).toISOString().replace('Z', `${String(micros - ms * 1000).padStart(3, '0')}Z`);
}

export function zoneName(zone: Zone): string {
  return zone === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;
}
