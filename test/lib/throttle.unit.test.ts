import { expect, test } from 'vitest';
import { createThrottle } from '../../src/lib/throttle.ts';

test('what is said again and again is said once a while, also after the clock was set back', () => {
  let nowMs = 1_000_000;
  const said: number[] = [];
  const throttle = createThrottle(60_000, () => nowMs);
  for (const stepMs of [0, 1, 59_998, 1, 59_999, 1, -3_600_000, 1]) {
    nowMs += stepMs;
    throttle(() => said.push(nowMs));
  }
  expect(said).toEqual([1_000_000, 1_060_000, 1_120_000, 1_120_000 - 3_600_000]);
});
