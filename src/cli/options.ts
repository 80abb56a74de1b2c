import { InvalidArgumentError } from 'commander';

/** Returns a parser of an option that is an integer within bounds. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** Collects an option that may be given many times. */
export function collect(text: string, before: readonly string[] = []): string[] {
  if (text === '') throw new InvalidArgumentError('It must not be empty.');
  return [...before, text];
}

export function parsePair(text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be name=value.');
  return [text.slice(0, at), text.slice(at + 1)];
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Converts `90d`, `12h`, `30m` or `45s` to milliseconds; `undefined` for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,6})([smhd])$/.exec(text);
  const unit = UNITS_MS[match?.[2] ?? ''];
  return unit === undefined ? undefined : Number(match?.[1]) * unit;
}
