import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { StoreState } from '../../src/engine/store-state.ts';
import { createStoreSizes } from '../../src/telemetry/store-sizes.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const holding = (rows: number): StoreState =>
  new Map([['logs', { rows, bytes: 10, oldestMs: undefined, newestMs: undefined }]]);

function createSizes() {
  const clock = { now: 1_000_000 };
  const reads: PromiseWithResolvers<StoreState>[] = [];
  const read = () => {
    const next = Promise.withResolvers<StoreState>();
    reads.push(next);
    return next.promise;
  };
  const readSizes = createStoreSizes(read, () => clock.now);
  return { clock, reads, readSizes };
}

test('without an answer of the engine the sizes are those of before, if there are any', async () => {
  const { clock, reads, readSizes } = createSizes();
  const none = readSizes();
  reads[0]?.reject(new Error('unavailable'));
  expect(await none).toBeUndefined();
  const first = readSizes();
  reads[1]?.resolve(holding(1));
  await first;
  clock.now += 5_000;
  const failed = readSizes();
  reads[2]?.reject(new Error('unavailable'));
  expect(await failed).toEqual({ tables: holding(1), readMs: 1_000_000, hasFailed: true });
  const late = readSizes(); // the fourth reading never ends
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await late).toEqual({ tables: holding(1), readMs: 1_000_000, hasFailed: true });
});
