import { describe, expect, test } from 'vitest';
import { createSlots, untilAborted } from '../../src/lib/abort.ts';

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

test('slots are held by so many at once, and given on in the order of asking, once each', async () => {
  const take = createSlots(2);
  const order: number[] = [];
  const taken = [0, 1, 2, 3].map(async (i) => {
    const { release } = await take();
    order.push(i);
    return release;
  });
  const first = await taken[0];
  await taken[1];
  expect(order).toEqual([0, 1]);
  first?.();
  first?.();
  (await taken[2])?.();
  await taken[3];
  expect(order).toEqual([0, 1, 2, 3]);
});
