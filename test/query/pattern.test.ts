import fc from 'fast-check';
import { expect, test } from 'vitest';
import { patternSize } from '../../src/query/pattern.ts';

test.each([
  ['aurora', 0],
  ['x'.repeat(65_536), 0],
  ['^aurora\\.', 8],
  ['a{3}', 3],
  ['(?:ab){3}', 3 * 5],
  ['(?:a{10}){10}', 10 * 13],
  ['[a-z]{2,5}', 5],
  ['a{2,}', 2],
  ['a{,5}', 5],
  ['[]a{9}]{4}', 4],
  ['\\{9}', 3],
  ['\\Qa{9}\\E', 8],
  ['(a', 2],
  ['a)', 2],
])('the size of %s is about %i', (pattern, size) => {
  expect(Math.abs(patternSize(pattern) - size)).toBeLessThanOrEqual(2);
});

test('repetitions multiply, however they are nested', () => {
  expect(patternSize('(?:(.*)(.*)(.*)(.*)(.*)){1000}')).toBeGreaterThan(10_000);
  expect(patternSize('((a{100}){100}){100}')).toBeGreaterThan(1_000_000);
  expect(patternSize('(a|b)*'.repeat(8_000))).toBeGreaterThan(8_000);
});

test('any text has a size that is a number, at least its own parts', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => patternSize(text) >= 0),
    { numRuns: 1_000 },
  );
});
