import { formatBytes, formatMs, formatPercent, formatSeconds, formatShort } from '../../format/number.ts';

/** How the values of a unit are written and joined. */
export interface Unit {
  readonly format: (value: number) => string;
  /** Stands in the title, if `format` does not write it. */
  readonly suffix: string | undefined;
}

const MINUTE = 60;
const inSeconds = (value: number) => (value < MINUTE ? formatMs(value * 1000) : formatSeconds(value));
const own = (format: Unit['format']): Unit => ({ format, suffix: undefined });

/** docs/endpoint-reference.md lists them. */
const UNITS: ReadonlyMap<string, Unit> = new Map([
  ['ms', own(formatMs)],
  ['µs', own((value) => formatMs(value / 1000))],
  ['s', own(inSeconds)],
  ['bytes', own(formatBytes)],
  ['%', own((value) => formatPercent(value / 100))],
  ['ratio', own(formatPercent)],
]);

/** @param name null: numbers without a unit */
export function findUnit(name: string | null): Unit {
  if (name === null) return own(formatShort);
  return UNITS.get(name) ?? { format: formatShort, suffix: name };
}
