import { describe, expect, test, vi } from 'vitest';
import { createSlots } from '../../src/lib/slots.ts';

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

const never = new AbortController().signal;

describe('one slot', () => {
  test('is released by itself after a time, if one was set', async () => {
    vi.useFakeTimers();
    const acquire = createSlots(1);
    (await acquire(never)).releaseAfter(1_000);
    const next = vi.fn();
    void acquire(never).then(next);
    await vi.advanceTimersByTimeAsync(999);
    expect(next).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(next).toHaveBeenCalled();
    vi.useRealTimers();
  });
});
