import { expect, test, vi } from 'vitest';
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

test('runs each time that its timer ticks, and reports name and duration', async () => {
  let count = 0;
  const { timer, clock, runs, trigger } = start(() => {
    count++;
    clock.now += 7;
  });
  expect([timer.everyMs, count]).toEqual([250, 0]);
  timer.tick?.();
  await trigger(); // joins the run
  timer.tick?.();
  await trigger();
  expect(count).toBe(2);
  expect(runs).toEqual(Array(2).fill({ name: 'sweep', ms: 7 }));
});

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

test('stopping ends the timer and waits for the run, but not for ever', async () => {
  vi.useFakeTimers();
  try {
    const { timer, trigger, stop } = start(() => new Promise(() => {}));
    void trigger();
    let hasStopped = false;
    const stopped = stop().then(() => {
      hasStopped = true;
    });
    expect(timer.tick).toBeUndefined();
    await vi.advanceTimersByTimeAsync(4_999);
    expect(hasStopped).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await stopped;
  } finally {
    vi.useRealTimers();
  }
});
