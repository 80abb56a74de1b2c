import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { findShortage } from './disk-space.ts';

test('finds room as long as the reserve stays free', () => {
  expect(findShortage('/data', 25e9, 30e9)).toBeUndefined();
  expect(findShortage('/data', 25e9, 29.9e9)).toBe('needs 25 GB and 5 GB of reserve; /data has 29.9 GB free');
});

test('reads what is free from the file system', () => {
  expect(findShortage(tmpdir(), -5e9)).toBeUndefined();
  expect(findShortage(tmpdir(), 1e21)).toMatch(/ has [\d.,]+ GB free$/);
});
