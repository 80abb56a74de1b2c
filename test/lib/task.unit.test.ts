import { expect, test } from 'vitest';
import { createThrottle, startTask } from '../../src/lib/task.ts';

/** A task whose timer is `tick`. */
function start(run: () => unknown) {
  const failures: unknown[] = [];
  const timer: { tick: (() => void) | undefined; everyMs?: number } = { tick: undefined };
  const task = startTask(
    { name: 'sweep', everyMs: 250, run },
    {
      onFailure: (error) => void failures.push(error),
      repeat(tick, everyMs) {
        Object.assign(timer, { tick, everyMs });
        return () => {
          timer.tick = undefined;
        };
      },
    },
  );
  return { ...task, failures, timer };
}

test('a run that takes longer is not overlapped, and ticks meanwhile are not made up for', async () => {
  const gates: PromiseWithResolvers<void>[] = [];
  const { timer, trigger } = start(() => {
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    return gate.promise;
  });
  for (let ticks = 0; ticks < 5; ticks++) timer.tick?.();
  expect(gates.length).toBe(1);
  gates[0]?.resolve();
  await trigger();
  expect(gates.length).toBe(1);
  timer.tick?.();
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
