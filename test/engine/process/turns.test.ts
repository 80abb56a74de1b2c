import { expect, test, vi } from 'vitest';
import { createTurns } from '../../../src/engine/process/turns.ts';

const never = new AbortController().signal;
const settle = () => new Promise(setImmediate);

test('turns begin one after the other', async () => {
  const take = createTurns();
  const begun: number[] = [];
  const turns = [0, 1, 2].map(async (i) => {
    const turn = await take(never);
    begun.push(i);
    return turn;
  });
  await settle();
  expect(begun).toEqual([0]);
  (await turns[0])?.end();
  await settle();
  expect(begun).toEqual([0, 1]);
  (await turns[1])?.end();
  (await turns[2])?.end();
  expect(begun).toEqual([0, 1, 2]);
});

test('a turn ends by itself when it has been given a time', async () => {
  vi.useFakeTimers();
  const take = createTurns();
  (await take(never)).endAfter(1_000);
  const next = vi.fn();
  void take(never).then(next);
  await vi.advanceTimersByTimeAsync(999);
  expect(next).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(next).toHaveBeenCalled();
  vi.useRealTimers();
});

test('one who leaves does not hold up those behind', async () => {
  const take = createTurns();
  const first = await take(never);
  const left = new AbortController();
  const leaving = take(left.signal);
  const behind = take(never);
  left.abort(new Error('hung up'));
  await expect(leaving).rejects.toThrow('hung up');
  first.end();
  await behind;
});
