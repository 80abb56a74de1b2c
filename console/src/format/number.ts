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
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < BYTE_UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
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

const SPANS: readonly (readonly [number, string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
];

/** `15 min`, `2 h 30 min`, `7 d`: at most two units. */
export function formatSeconds(seconds: number): string {
  let rest = Math.round(seconds);
  const parts: string[] = [];
  for (const [size, unit] of SPANS) {
    const count = Math.floor(rest / size);
    if (count > 0) parts.push(`${count} ${unit}`);
    rest -= count * size;
  }
  return parts.slice(0, 2).join(' ') || '0 s';
}
