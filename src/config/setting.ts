import type { Machine } from './machine.ts';

/** One environment variable: its syntax, meaning and default. */
export interface Setting<T> {
  readonly env: string;
  /** Other variables that mean the same; `env` wins if both are set. */
  readonly aliases: readonly string[];
  readonly help: string;
  readonly unit: string;
  /** A function if the default follows the machine (machine.ts). */
  readonly fallback: T | ((machine: Machine) => T);
  /** Such a default in words, for docs/settings.md. */
  readonly fallbackText?: string;
  /** Never shown: a key or password. */
  readonly secret: boolean;
  /** @throws Error whose message says what would be right */
  readonly parse: (text: string) => T;
}

// Messages name the same example on every machine.
const EXAMPLE: Machine = { cores: 2, memoryBytes: 8 * 1024 ** 3 };

/** A text that may be empty, unless `parse` rejects that. */
export function text(env: string, help: string, parse = (value: string) => value): Setting<string> {
  return { env, aliases: [], help, unit: '', fallback: '', secret: false, parse };
}

/** A value that is never shown, since it is a password or contains one. */
export function hidden(env: string, help: string, parse?: (value: string) => string): Setting<string> {
  return { ...text(env, help, parse), secret: true };
}

export function secret(
  env: string,
  aliases: readonly string[],
  help: string,
  charsMin = 16,
): Setting<string> {
  const parse = (value: string) => {
    if (value !== '' && value.length < charsMin)
      throw new Error(`must be at least ${charsMin} characters long`);
    // What a header carries unchanged; any other key could never be sent.
    if (!/^[\x21-\x7e]*$/.test(value))
      throw new Error('must be of ASCII letters, digits and signs, without spaces');
    return value;
  };
  return { ...hidden(env, help, parse), aliases };
}

export function choice<const C extends string>(
  env: string,
  fallback: C,
  allowed: readonly C[],
  help: string,
): Setting<C> {
  const parse = (value: string) => {
    const found = allowed.find((one) => one === value);
    if (found === undefined) throw new Error(`must be one of ${allowed.join(', ')}`);
    return found;
  };
  return { ...text(env, `${help} One of ${allowed.join(', ')}.`), fallback, parse };
}

interface NumberRules extends Pick<Setting<number>, 'fallback' | 'fallbackText' | 'unit'> {
  readonly min: number;
  readonly max: number;
}

export function integer(env: string, { min, max, ...rules }: NumberRules, help: string): Setting<number> {
  const { fallback, unit } = rules;
  const parse = (value: string) => {
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    const example = typeof fallback === 'number' ? fallback : fallback(EXAMPLE);
    throw new Error(`must be a whole number from ${min} to ${max} (${unit}), such as ${example}`);
  };
  return { env, aliases: [], help, secret: false, parse, ...rules };
}

export function parseText(value: string): string {
  if (value.trim() === '') throw new Error('must not be empty');
  return value;
}
