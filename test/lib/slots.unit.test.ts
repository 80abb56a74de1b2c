import { expect, test } from 'vitest';
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
