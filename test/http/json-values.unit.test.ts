import { expect, test } from 'vitest';
import { hasTooManyValues, JSON_VALUES_MAX } from '../../src/http/json-values.ts';

const list = (count: number, item = '1') => `[${Array.from({ length: count }, () => item).join(',')}]`;

test('values are counted, wherever they stand', () => {
  expect(hasTooManyValues(list(JSON_VALUES_MAX))).toBe(false);
  expect(hasTooManyValues(list(JSON_VALUES_MAX + 1))).toBe(true);
  expect(hasTooManyValues('['.repeat(JSON_VALUES_MAX + 1))).toBe(true);
  expect(hasTooManyValues(`{"a":${list(JSON_VALUES_MAX, '{}')}}`)).toBe(true);
});

test('commas and brackets of texts are none', () => {
  const text = JSON.stringify({ sql: '[{,"\\'.repeat(20_000) });
  expect(hasTooManyValues(text)).toBe(false);
  expect(hasTooManyValues(`{"a":"\\\\",${list(JSON_VALUES_MAX).slice(1)}`)).toBe(true);
});
