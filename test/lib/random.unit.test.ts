import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRandom, createWeighted } from '../../src/lib/random.ts';

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const many = <T>(make: () => T, count = 20_000) => Array.from({ length: count }, make);
const mean = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

describe('createRandom', () => {
  test('gives the same numbers for the same seed and others for a seed that differs in one character', () => {
    const numbers = (seed: string) => many(createRandom(seed).next, 50);
    expect(numbers('seed/1')).toEqual(numbers('seed/1'));
    expect(numbers('seed/1').filter((one) => numbers('seed/2').includes(one))).toEqual([]);
  });

  test('spreads numbers evenly between 0 and 1', () => {
    const tenths = new Array<number>(10).fill(0);
    for (const number of many(createRandom('even').next)) {
      const tenth = Math.floor(number * 10);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    expect(tenths).toHaveLength(10); // nothing below 0, nothing from 1 on
    for (const count of tenths) expect(Math.abs(count - 2_000)).toBeLessThan(200);
  });

  test('keeps whole numbers within their bounds and reaches both', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: -50, max: 50 }), fc.nat(5), (seed, min, width) => {
        const random = createRandom(seed);
        const seen = new Set(many(() => random.whole(min, min + width), 200));
        expect([...seen].sort((a, b) => a - b)).toEqual(Array.from({ length: width + 1 }, (_, i) => min + i));
      }),
    );
  });

  test('makes times with the median and the long tail of a log-normal distribution', () => {
    const random = createRandom('times');
    const times = many(() => random.logNormal(80, 0.5)).sort((a, b) => a - b);
    expect(times[10_000]).toBeGreaterThan(77);
    expect(times[10_000]).toBeLessThan(83);
    // 84.1 % lie below e^0.5 times the median, and the mean is e^(0.5²/2) times it.
    expect((times[16_820] ?? 0) / (80 * Math.exp(0.5))).toBeCloseTo(1, 1);
    expect(mean(times) / (80 * Math.exp(0.125))).toBeCloseTo(1, 1);
  });

  test('makes UUIDs that do not repeat', () => {
    const random = createRandom('ids');
    const ids = many(random.uuid);
    expect(ids.filter((id) => !UUID_V4.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('refuses to pick from nothing', () => {
    expect(() => createRandom('none').pick([])).toThrow('there is nothing to pick from');
  });
});

test('createWeighted picks each item as often as its weight says', () => {
  const pick = createWeighted([
    [6, 'a'],
    [3, 'b'],
    [1, 'c'],
  ]);
  const random = createRandom('weights');
  const picked = many(() => pick(random));
  const share = (item: string) => picked.filter((one) => one === item).length / picked.length;
  expect(share('a')).toBeCloseTo(0.6, 1);
  expect(share('b')).toBeCloseTo(0.3, 1);
  expect(share('c')).toBeCloseTo(0.1, 1);
});
