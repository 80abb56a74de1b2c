export type Zone = 'local' | 'utc';

/** `2026-11-20 07:00:00.123`; empty if it is not an instant. */
export function formatTimeMs(ms: number, zone: Zone): string {
  const aheadMs = zone === 'utc' ? 0 : -60_000 * new Date(ms).getTimezoneOffset();
  const shown = new Date(ms + aheadMs);
  return Number.isNaN(shown.getTime()) ? '' : shown.toISOString().slice(0, -'Z'.length).replace('T', ' ');
}

/** `2026-11-20 07:00:00`; empty if it is not an instant. */
export function formatTime(ms: number, zone: Zone): string {
  return formatTimeMs(ms, zone).slice(0, -'.123'.length);
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
  return formatTime(new Date(instant).getTime(), zone).replace(' ', 'T');
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
