/** Formats for times in texts and in form fields. */
export type Zone = 'local' | 'utc';

const pad = (value: number, length = 2) => String(value).padStart(length, '0');

interface Parts {
  readonly date: string;
  readonly time: string;
  readonly ms: string;
}

function partsOf(ms: number, zone: Zone): Parts {
  const d = new Date(ms);
  const [y, mo, day, h, mi, s] =
    zone === 'utc'
      ? [
          d.getUTCFullYear(),
          d.getUTCMonth(),
          d.getUTCDate(),
          d.getUTCHours(),
          d.getUTCMinutes(),
          d.getUTCSeconds(),
        ]
      : [d.getFullYear(), d.getMonth(), d.getDate(), d.getHours(), d.getMinutes(), d.getSeconds()];
  return {
    date: `${pad(y, 4)}-${pad(mo + 1)}-${pad(day)}`,
    time: `${pad(h)}:${pad(mi)}:${pad(s)}`,
    ms: pad(d.getUTCMilliseconds(), 3),
  };
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
  return new Date(ms).toISOString().replace('Z', `${pad(micros - ms * 1000, 3)}Z`);
}

/** The name of the displayed zone. */
export function zoneName(zone: Zone): string {
  return zone === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;
}
