import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createThrottle, startTask } from '../../src/lib/task.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function start(run: () => unknown) {
  const failures: unknown[] = [];
  return {
    ...startTask({ name: 'sweep', everyMs: 250, run }, (error) => void failures.push(error)),
    failures,
  };
}

test('a run that takes longer is not overlapped, and ticks meanwhile are not made up for', async () => {
  const gates: PromiseWithResolvers<void>[] = [];
  const { trigger } = start(() => {
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    return gate.promise;
  });
  vi.advanceTimersByTime(5 * 250);
  expect(gates.length).toBe(1);
  gates[0]?.resolve();
  await trigger();
  expect(gates.length).toBe(1);
  vi.advanceTimersByTime(250);
  expect(gates.length).toBe(2);
});

test('a run that fails is reported, and the next one starts as usual', async () => {
  let runs = 0;
  const { failures, trigger } = start(async () => {
    if (++runs === 1) throw new Error('once');
  });
  await trigger();
  await trigger();
  expect([runs, failures]).toEqual([2, [new Error('once')]]);
});

test('what is said again and again is said once a while, also after the clock was set back', () => {
  let nowMs = 1_000_000;
  const said: number[] = [];
  const throttle = createThrottle(() => nowMs);
  for (const stepMs of [0, 1, 59_998, 1, 59_999, 1, -3_600_000, 1]) {
    nowMs += stepMs;
    throttle(() => said.push(nowMs));
  }
  expect(said).toEqual([1_000_000, 1_060_000, 1_120_000, 1_120_000 - 3_600_000]);
});
