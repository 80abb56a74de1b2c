import { expect, test } from 'vitest';
import { createCoreMeter } from '../../../src/engine/process/core-meter.ts';

test('core time is divided among the statements that run, and that of none is nobody’s', () => {
  let micros = 500;
  const start = createCoreMeter(() => micros);
  const first = start();
  micros += 4_000;
  const second = start();
  micros += 6_000;
  expect(first()).toBe(7); // all of 4 ms, half of 6 ms
  micros += 1_000;
  expect(second()).toBe(4);
  micros += 50_000;
  const third = start();
  micros += 2_000;
  expect(third()).toBe(2);
});
