import { InvalidArgumentError } from 'commander';

/** Returns a parser of an option that is an integer within bounds. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** Collects an option that may be given many times. Commander passes `true` before the first one if there is a `--no-` form. */
export function collect(text: string, before: readonly string[] | boolean | undefined): string[] {
  if (text === '') throw new InvalidArgumentError('It must not be empty.');
  return [...(Array.isArray(before) ? before : []), text];
}

export function parsePair(text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be name=value.');
  return [text.slice(0, at), text.slice(at + 1)];
}
