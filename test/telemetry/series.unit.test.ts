import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDurations, findQuantile, readBuckets } from '../../src/telemetry/series.ts';

const observe = (all: readonly number[], durations = createDurations()) => {
  for (const seconds of all) durations.observe(seconds);
  return durations;
};
const count = (all: readonly number[]) => observe(all).sample();

/** Nearest rank, in whole numbers: the percentile is exact. */
function exact(durations: readonly number[], percent: number): number {
  const sorted = durations.toSorted((a, b) => a - b);
  return sorted[Math.ceil((percent * sorted.length) / 100) - 1] ?? Number.NaN;
}

/** Seconds from 2 µs to 50 minutes, as likely short as long. */
const seconds = fc.double({ min: -13, max: 8, noNaN: true }).map(Math.exp);

test('a quantile of durations is within 5 % of the exact nearest rank for 1 to 10,000 requests of any durations', () => {
  const some = fc.array(seconds, { minLength: 1, maxLength: 40 });
  // Long lists repeat a few durations by turns that depend on a number, which is faster than as many doubles.
  const durations = fc
    .tuple(fc.integer({ min: 1, max: 10_000 }), some, fc.nat())
    .map(([length, all, turn]) => Array.from({ length }, (_, i) => all[(turn + i * i) % all.length] ?? 1));
  fc.assert(
    fc.property(durations, fc.constantFrom(1, 50, 90, 95, 99, 100), (all, percent) => {
      const found = findQuantile(count(all), percent / 100) ?? Number.NaN;
      expect(Math.abs(found / exact(all, percent) - 1)).toBeLessThan(0.05);
    }),
  );
});

test('the buckets that Prometheus reads hold what is at most their bound, and what the buckets below them hold', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(seconds, fc.constantFrom(0.000_25, 0.5, 2.5, 30))), (all) => {
      for (const { le, count } of readBuckets(observe(all)))
        expect(count).toBe(all.filter((one) => le === '+Inf' || one <= le).length);
    }),
  );
});
