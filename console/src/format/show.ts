const LOCALE = 'en';

const whole = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 });
const fine = new Intl.NumberFormat(LOCALE, { maximumSignificantDigits: 3 });

/** `1,234,567` */
export function formatCount(value: number): string {
  return whole.format(value);
}

/** `1 row`, `1,234 rows` */
export function formatRows(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'row' : 'rows'}`;
}

/** Formats `12K`, `1.2M`; below ten thousand integers exactly, others with at least three significant digits. */
export function formatShort(value: number): string {
  const size = Math.abs(value);
  if (size >= 10_000) return short.format(value);
  return size >= 1_000 || Number.isInteger(value) ? whole.format(value) : fine.format(value);
}

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `940 MiB` */
export function formatBytes(bytes: number): string {
  const unit = bytes < 1024 ? 0 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** unit;
  return `${unit === 0 ? whole.format(value) : fine.format(value)} ${BYTE_UNITS[unit]}`;
}

/** `0.31 ms`, `12 ms`, `1.2 s` */
export function formatMs(ms: number): string {
  return ms < 1000 ? `${fine.format(ms)} ms` : `${fine.format(ms / 1000)} s`;
}

/** `75 %` */
export function formatPercent(ratio: number): string {
  return `${fine.format(Math.round(ratio * 1000) / 10)} %`;
}

const SPANS = Object.entries({ d: 86_400, h: 3600, min: 60, s: 1 });

/** `15 min`, `2 h 30 min`, `7 d`: at most two units. */
export function formatSeconds(seconds: number): string {
  let rest = Math.round(seconds);
  const parts: string[] = [];
  for (const [unit, size] of SPANS) {
    const count = Math.floor(rest / size);
    if (count > 0) parts.push(`${count} ${unit}`);
    rest -= count * size;
  }
  return parts.slice(0, 2).join(' ') || '0 s';
}

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

/** Each unit up to a number of seconds. */
const AGO = [
  [60, 1, 's'],
  [3600, 60, 'min'],
  [172_800, 3600, 'h'],
] as const;

/** `3 min ago`, `in 2 h` */
export function formatAgo(ms: number, nowMs: number): string {
  const seconds = Math.round((nowMs - ms) / 1000);
  const size = Math.abs(seconds);
  if (size < 5) return 'just now';
  const [, unitSeconds, unit] = AGO.find(([below]) => size < below) ?? [size, 86_400, 'd'];
  const text = `${Math.round(size / unitSeconds)} ${unit}`;
  return seconds < 0 ? `in ${text}` : `${text} ago`;
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

// Terminal codes: colours and cursor moves (CSI), titles and links (OSC), and others of two characters.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const TERMINAL = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g;
// All control characters but tab and line feed, line separators, and those that change the direction of text.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A text of an event without colours of terminals, and with controls shown as ⟨U+202E⟩: they could change how it reads. */
export function showText(text: string): string {
  return showControls(text.replaceAll(TERMINAL, ''));
}

/** Control characters made visible; terminal codes stay, as part of the text. */
export function showControls(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(CONTROLS, (control) => {
    const code = control.charCodeAt(0).toString(16).toUpperCase();
    return `⟨U+${code.padStart(4, '0')}⟩`;
  });
}
