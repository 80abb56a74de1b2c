// Before every test file (vitest.config.ts): how much of each property is tried, and with which seed.
import fc from 'fast-check';
import { afterEach } from 'vitest';
import { createRandom } from '../../src/lib/random.ts';

/** Seed of all that is random in a run: that of TEST_SEED, or a new one. */
export const SEED = Number(process.env['TEST_SEED']);
// 1: every value that a test names; 0.2: a fifth of them.
const SHARE = Number(process.env['TEST_RUNS']);

fc.configureGlobal({ seed: SEED, ...runs(100) });

afterEach(({ task }) => {
  if (task.result?.state === 'fail') process.stderr.write(`TEST_SEED=${SEED} repeats "${task.name}"\n`);
});

/** The share of `count` that this run tries; at least 1. */
export function scale(count: number): number {
  return Math.max(1, Math.round(count * SHARE));
}

/** Parameters of a property that is tried `count` times in a whole run. A failure prints the seed and the smallest case. */
export function runs(count: number): { numRuns: number } {
  return { numRuns: scale(count) };
}

/** The members of a long list that this run tries: all, or a random share of them, at least one. */
export function sample<T>(items: readonly T[]): readonly T[] {
  const random = createRandom(String(SEED));
  const chosen = items.filter(() => random.chance(SHARE));
  return chosen.length > 0 ? chosen : items.slice(0, 1);
}

/** One of several arbitraries, each as often as its weight says. */
export function weighted<const T extends readonly unknown[]>(
  ...items: { readonly [K in keyof T]: readonly [weight: number, arbitrary: fc.Arbitrary<T[K]>] }
): fc.Arbitrary<T[number]> {
  return fc.oneof(...items.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}
