import { expect, test } from 'vitest';
import { freeMemory } from '../../src/lib/memory.ts';

test('memory is freed at once, but not that of a buffer that shares it with others', () => {
  const own = Buffer.allocUnsafeSlow(16);
  const whole = Buffer.from('abcdef');
  const part = whole.subarray(0, 3);
  freeMemory([own, part]);
  expect(own).toHaveLength(0);
  expect(part.toString()).toBe('abc');
  expect(whole.toString()).toBe('abcdef');
});
