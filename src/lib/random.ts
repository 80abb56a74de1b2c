/** Numbers that look random and are the same for the same seed. Not for secrets. */
export interface Random {
  /** At least 0, less than 1. */
  next(): number;
  /** A whole number, at least `min`, at most `max`. */
  whole(min: number, max: number): number;
  /** True once in `1 / probability` times. */
  chance(probability: number): boolean;
  /** One of `items`, each as likely. @throws RangeError when there are none */
  pick<T>(items: readonly T[]): T;
  /** From a log-normal distribution: half of them below `median`; `sigma` is the deviation of the logarithm. */
  logNormal(median: number, sigma: number): number;
  /** 32 random bits as eight hexadecimal digits. */
  hex(): string;
  /** In the form of a UUID of version 4. */
  uuid(): string;
}

/** @param seed any text; texts that differ in one character give unrelated numbers */
export function createRandom(seed: string): Random {
  const bits = createBits(seed);
  const next = () => bits() / 0x1_0000_0000;
  const hex = () => toHex(bits());
  return {
    next,
    hex,
    whole: (min, max) => min + Math.floor(next() * (max - min + 1)),
    chance: (probability) => next() < probability,
    pick: (items) => at(items, Math.floor(next() * items.length)),
    logNormal: (median, sigma) => median * Math.exp(sigma * normal(next)),
    uuid() {
      const middle = hex();
      const variant = (0x8000 | (bits() & 0x3fff)).toString(16);
      return `${hex()}-${middle.slice(0, 4)}-4${middle.slice(5)}-${variant}-${hex()}${hex().slice(4)}`;
    },
  };
}

/** Picks among items of unlike weight. */
export function createWeighted<T>(items: readonly (readonly [weight: number, item: T])[]) {
  let total = 0;
  const bounds = items.map(([weight]) => {
    total += weight;
    return total;
  });
  return (random: Random): T => {
    const mark = random.next() * total;
    return at(
      items,
      bounds.findIndex((bound) => mark < bound),
    )[1];
  };
}

function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new RangeError('there is nothing to pick from');
  return item;
}

/** Box and Muller's transform: a number from the normal distribution of mean 0 and deviation 1. */
function normal(next: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
}

const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function toHex(bits: number): string {
  return `${BYTES[bits >>> 24]}${BYTES[(bits >>> 16) & 255]}${BYTES[(bits >>> 8) & 255]}${BYTES[bits & 255]}`;
}

const WARM_UP = 12;

/** Chris Doty-Humphrey's sfc32: four words of state, 32 bits a step, no multiplication. */
function createBits(seed: string): () => number {
  let a = hash(seed, 0x9e3779b9);
  let b = hash(seed, 0x243f6a88);
  let c = hash(seed, 0xb7e15162);
  let counter = 1;
  const step = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let i = 0; i < WARM_UP; i++) step();
  return step;
}

/** FNV-1a over the UTF-16 units, from a start of its own for each word of state. */
function hash(text: string, start: number): number {
  let value = start | 0;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value;
}
