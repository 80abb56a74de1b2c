import { expect, test, vi } from 'vitest';
import { createLock } from '../../../src/engine/process/lock.ts';

const never = new AbortController().signal;
const settle = () => new Promise(setImmediate);

test('is acquired by one after the other, in order', async () => {
  const acquire = createLock();
  const begun: number[] = [];
  const locks = [0, 1, 2].map(async (i) => {
    const lock = await acquire(never);
    begun.push(i);
    return lock;
  });
  await settle();
  expect(begun).toEqual([0]);
  (await locks[0])?.release();
  await settle();
  expect(begun).toEqual([0, 1]);
  (await locks[1])?.release();
  (await locks[2])?.release();
  expect(begun).toEqual([0, 1, 2]);
});

test('is released by itself after a time, if one was set', async () => {
  vi.useFakeTimers();
  const acquire = createLock();
  (await acquire(never)).releaseAfter(1_000);
  const next = vi.fn();
  void acquire(never).then(next);
  await vi.advanceTimersByTimeAsync(999);
  expect(next).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(next).toHaveBeenCalled();
  vi.useRealTimers();
});

test('an aborted wait does not delay those behind it', async () => {
  const acquire = createLock();
  const first = await acquire(never);
  const left = new AbortController();
  const leaving = acquire(left.signal);
  const behind = acquire(never);
  left.abort(new Error('hung up'));
  await expect(leaving).rejects.toThrow('hung up');
  first.release();
  await behind;
});
