import { expect, test } from 'vitest';
import { startTask, type TaskRun } from '../../src/lib/task.ts';

/** A task whose timer is `tick`. */
function start(run: () => unknown) {
  const runs: TaskRun[] = [];
  const clock = { now: 0 };
  const timer: { tick: (() => void) | undefined; everyMs?: number } = { tick: undefined };
  const task = startTask(
    { name: 'sweep', everyMs: 250, run },
    {
      onRun: (one) => void runs.push(one),
      ticks: () => clock.now,
      repeat(tick, everyMs) {
        Object.assign(timer, { tick, everyMs });
        return () => {
          timer.tick = undefined;
        };
      },
    },
  );
  return { ...task, runs, clock, timer };
}

test('a run that takes longer is not overlapped, and ticks meanwhile are not made up for', async () => {
  const gates: PromiseWithResolvers<void>[] = [];
  const { timer, runs, trigger } = start(() => {
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    return gate.promise;
  });
  for (let ticks = 0; ticks < 5; ticks++) timer.tick?.();
  expect(gates.length).toBe(1);
  gates[0]?.resolve();
  await trigger();
  expect([gates.length, runs.length]).toEqual([1, 1]);
  timer.tick?.();
  expect(gates.length).toBe(2);
});

test('a run that fails is reported, and the next one starts as usual', async () => {
  let isFirst = true;
  const { runs, trigger } = start(async () => {
    if (!isFirst) return;
    isFirst = false;
    throw new Error('once');
  });
  await trigger();
  await trigger();
  expect(runs).toEqual([
    { name: 'sweep', ms: 0, error: new Error('once') },
    { name: 'sweep', ms: 0 },
  ]);
});
