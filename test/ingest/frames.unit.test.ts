import { expect, test } from 'vitest';
import { countFrames, readFrames } from '../../src/ingest/protocols/frames.ts';

test.each([
  ['', 0],
  ['5 <1>1 1 a0 ', 3],
  ['1 a'.repeat(20_000), 20_000],
])('frames are counted as they are read: %.20s', (text, count) => {
  const bytes = Buffer.from(text);
  expect([...readFrames(bytes)]).toHaveLength(count);
  expect(countFrames(bytes)).toBe(count);
});

test.each(['1 ax', '1 a9 b', '1 a b', '1 a123456789 b'])('no frame behind a fault is counted: %s', (text) => {
  expect(() => [...readFrames(Buffer.from(text))]).toThrow('frames with their lengths');
  expect(countFrames(Buffer.from(text))).toBe(1);
});
