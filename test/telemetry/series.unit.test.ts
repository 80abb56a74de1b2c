import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addIncreases, createDurations, findQuantile, readBuckets } from '../../src/telemetry/series.ts';

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

function expectNear(found: number | undefined, expected: number): void {
  expect(Math.abs((found ?? Number.NaN) / expected - 1)).toBeLessThan(0.05);
}

describe('a quantile of durations', () => {
  test('of one request of 127 ms is 127 ms, not the middle of a bucket from 100 to 250', () => {
    for (const quantile of [0.5, 0.99]) expectNear(findQuantile(count([0.127]), quantile), 0.127);
  });

  test('is within 5 % of the exact nearest rank for 1 to 10,000 requests of any durations', () => {
    const size = fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 201, max: 10_000 }));
    const durations = size.chain((length) =>
      fc
        .tuple(fc.array(seconds, { minLength: 1, maxLength: 40 }), fc.integer())
        // Long lists repeat a few durations by turns that depend on a number, which is faster to make than as many doubles.
        .map(([some, turn]) =>
          Array.from({ length }, (_, i) => some[Math.abs(turn + i * i) % some.length] ?? 1),
        ),
    );
    fc.assert(
      fc.property(durations, fc.constantFrom(1, 50, 90, 95, 99, 100), (all, percent) => {
        expectNear(findQuantile(count(all), percent / 100), exact(all, percent));
      }),
    );
  });

  test.each(Array.from({ length: 210 }, (_, i) => i + 1))(
    'has the exact rank for %i requests',
    (requests) => {
      // Durations 10 % apart, so that the neighbouring rank would be outside of the tolerance.
      const durations = Array.from({ length: requests }, (_, i) => 2e-6 * 1.1 ** i);
      for (const percent of [50, 99]) {
        expectNear(findQuantile(count(durations), percent / 100), exact(durations, percent));
      }
    },
  );

  test('counts what came between two samples only', () => {
    const durations = observe([10, 10, 10]);
    const before = durations.sample();
    expect(durations.sample()).toBe(before);
    const increase = addIncreases([{ before, after: observe([0.001], durations).sample() }]);
    expectNear(findQuantile(increase, 0.99), 0.001);
  });

  test('of nothing is none, and of durations beyond the bounds is the bound', () => {
    expect(findQuantile(count([]), 0.5)).toBeUndefined();
    expectNear(findQuantile(count([0]), 0.5), 1e-6);
    expectNear(findQuantile(count([1e6]), 0.5), 3_600);
  });

  test('stays right when a count passes 2^32', () => {
    const before = new Uint32Array(count([]).length).fill(2 ** 32 - 1);
    const after = before.map((one) => one + 1);
    expect(after[0]).toBe(0);
    expect(addIncreases([{ before, after }])).toEqual(before.fill(1));
  });
});

describe('the buckets that Prometheus reads', () => {
  test('hold what is at most their bound, and what the buckets below them hold', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(seconds, fc.constantFrom(0.000_25, 0.5, 2.5, 30))), (all) => {
        for (const { le, count } of readBuckets(observe(all)))
          expect(count).toBe(all.filter((one) => le === '+Inf' || one <= le).length);
      }),
    );
    expect(readBuckets(createDurations()).map(({ le }) => le)).toEqual([
      ...[0.000_25, 0.000_5, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05],
      ...[0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      '+Inf',
    ]);
  });
});
