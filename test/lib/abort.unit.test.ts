import { describe, expect, test } from 'vitest';
import { createLock, untilAborted } from '../../src/lib/abort.ts';

describe('waiting until aborted', () => {
  test('ends with the work, when that comes first', async () => {
    const { signal } = new AbortController();
    expect(await untilAborted(Promise.resolve(1), signal)).toBe(1);
    await expect(untilAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
  });

  test('ends with the reason, and the failure that comes later is nobody’s', async () => {
    const controller = new AbortController();
    const work = Promise.withResolvers<void>();
    const waiting = untilAborted(work.promise, controller.signal);
    controller.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    work.reject(new Error('late'));
    await expect(untilAborted(work.promise, AbortSignal.abort(new Error('early')))).rejects.toThrow('early');
  });
});

test('a lock is held by one at a time, in the order of asking; whoever gives up is passed over', async () => {
  const acquire = createLock();
  const order: number[] = [];
  const leaving = new AbortController();
  const taken = [undefined, leaving.signal, undefined, undefined].map(async (signal, i) => {
    const release = await acquire(signal);
    order.push(i);
    return release;
  });
  const first = await taken[0];
  leaving.abort(new Error('left'));
  await expect(taken[1]).rejects.toThrow('left');
  expect(order).toEqual([0]);
  for (const _ of [1, 2]) first?.();
  (await taken[2])?.();
  await taken[3];
  expect(order).toEqual([0, 2, 3]);
});
