import { expect, test } from 'vitest';
import { countCopies } from './data.ts';

test('makes large data of equal parts of ten million rows at most', () => {
  const sizes = [1, 10_000_000, 24_000_000, 300_000_000, 1_000_000_000];
  expect(sizes.map(countCopies)).toEqual([1, 1, 3, 30, 100]);
  expect(() => countCopies(25_000_000)).toThrow('25,000,000 rows cannot be 3 equal parts; 30,000,000 can');
});
