import { availableParallelism, totalmem } from 'node:os';

/** One environment variable: its syntax, meaning and default. */
export interface Setting<T> {
  readonly env: string;
  /** Other variables that mean the same; `env` wins if both are set. */
  readonly aliases: readonly string[];
  readonly help: string;
  readonly unit: string;
  /** A function if the default follows the machine. */
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

/** A text that is not blank if it is set. */
export function filled(env: string, help: string, fallback = ''): Setting<string> {
  const parse = (value: string) => {
    if (value.trim() === '') throw new Error('must not be empty');
    return value;
  };
  return { ...text(env, help, parse), fallback };
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

/** The part of the machine that a process may use: in a container its limits, not what the host has. */
export interface Machine {
  /** Threads that can compute at once. */
  readonly cores: number;
  readonly memoryBytes: number;
}

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

/** Reads the limits of cgroups and CPU affinity, too. */
export function readMachine(): Machine {
  // 0 or more than the machine has: no limit.
  const limit = process.constrainedMemory();
  const total = totalmem();
  return { cores: availableParallelism(), memoryBytes: limit > 0 && limit < total ? limit : total };
}

/** The defaults that follow the machine. Their minimum is what the engine works with at all. */
export const BY_MACHINE = {
  /** One query a core; the second, so that one key cannot hold all. More than 16 only share the memory. */
  readers: ({ cores }: Machine) => clamp(cores, 2, 16),
  /** Half of the memory, since the service and the page cache need theirs; at most what the readers use, 2 GiB a core. */
  engineMemoryBytesMax: ({ cores, memoryBytes }: Machine) =>
    clamp(Math.floor(memoryBytes / 2), 512 * MIB, Math.max(2, cores) * 2 * GIB),
  /** Answers that callers ask for again: 32 MiB a core, at most a sixteenth of the memory. */
  cacheBytesMax: ({ cores, memoryBytes }: Machine) =>
    clamp(Math.floor(memoryBytes / 16), 16 * MIB, Math.max(2, cores) * 32 * MIB),
};

/** The engine's own threads and caches. */
export function sizeEngine({ cores }: Machine, memoryBytesMax: number) {
  const merging = clamp(cores, 2, 16);
  return {
    mergeThreads: merging,
    markCacheBytes: Math.min(32 * MIB * merging, Math.floor(memoryBytesMax / 16)),
  };
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}
