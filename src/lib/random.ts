import { createHash } from 'node:crypto';

export type Random = ReturnType<typeof createRandom>;

/**
 * Creates pseudorandom numbers, the same for the same seed. Not for secrets.
 * @param seed any text; texts that differ in one character give unrelated numbers
 */
export function createRandom(seed: string) {
  const digest = createHash('sha256').update(seed).digest();
  let [a = 0, b = 0, c = 0, d = 0] = [0, 4, 8, 12].map((offset) => digest.readInt32LE(offset));
  /** Chris Doty-Humphrey's sfc32: 32 random bits. */
  const bits = () => {
    const sum = (a + b + d++) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  /** At least 0, less than 1. */
  const next = () => bits() / 0x1_0000_0000;
  /** 32 random bits as eight hexadecimal digits. */
  const hex = () => bits().toString(16).padStart(8, '0');
  return {
    next,
    hex,
    /** An integer, at least `min`, at most `max`. */
    whole: (min: number, max: number) => min + Math.floor(next() * (max - min + 1)),
    /** True with this probability. */
    chance: (probability: number) => next() < probability,
    /** One of `items`, each with the same probability. @throws RangeError if there are none */
    pick: <T>(items: readonly T[]): T => at(items, Math.floor(next() * items.length)),
    /** A number from a log-normal distribution: half of them below `median`; `sigma` is the deviation of the logarithm. */
    logNormal: (median: number, sigma: number) => median * Math.exp(sigma * normal(next)),
    /** A text in the form of a UUID of version 4. */
    uuid() {
      const middle = hex();
      const variant = (0x8000 | (bits() & 0x3fff)).toString(16);
      return `${hex()}-${middle.slice(0, 4)}-4${middle.slice(5)}-${variant}-${hex()}${hex().slice(4)}`;
    },
  };
}

/** Picks items with the probability that their weights give. */
export function createWeighted<T>(items: readonly (readonly [weight: number, item: T])[]) {
  let total = 0;
  const bounds = items.map(([weight]) => {
    total += weight;
    return total;
  });
  return (random: Random): T => {
    const mark = random.next() * total;
    const index = bounds.findIndex((bound) => mark < bound);
    return at(items, index)[1];
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
