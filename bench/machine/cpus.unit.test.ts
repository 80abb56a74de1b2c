import { expect, test } from 'vitest';
import { coreCounts, parseCpuList } from './cpus.ts';

test('reads the list of CPUs of a process', () => {
  expect(parseCpuList('0-1')).toEqual([0, 1]);
  expect(parseCpuList('3')).toEqual([3]);
  expect(parseCpuList('0-2,5,8-9')).toEqual([0, 1, 2, 5, 8, 9]);
  expect(parseCpuList('')).toEqual([]);
});

test('measures powers of two of the cores that there are', () => {
  expect(coreCounts(0)).toEqual([]);
  expect(coreCounts(2)).toEqual([1, 2]);
  expect(coreCounts(12)).toEqual([1, 2, 4, 8]);
  expect(coreCounts(96)).toEqual([1, 2, 4, 8, 16]);
});
