import { setImmediate } from 'node:timers/promises';

/** Runs long work in pieces on the one thread, so that whoever else needs it waits for a piece and not for the whole. */
export interface Slices {
  /**
   * Does `work` for each item in order. Only one caller is at work at a time, first come, first served:
   * otherwise each turn of the event loop would do a piece of every one of them.
   *
   * @throws what `work` throws; then the rest is not done
   */
  forEach<T>(items: readonly T[], work: (item: T, index: number) => void): Promise<void>;
}

/**
 * @param sliceMs how long the thread may be held at a time
 * @param now ms, of a clock that never goes back
 */
export function createSlices(sliceMs: number, now: () => number): Slices {
  let last: Promise<void> = Promise.resolve();
  let endMs = 0; // of all callers together, since many short ones in a row hold the thread just as a long one does

  async function run<T>(items: readonly T[], work: (item: T, index: number) => void): Promise<void> {
    for (const [i, item] of items.entries()) {
      if (now() >= endMs) {
        await setImmediate();
        endMs = now() + sliceMs;
      }
      work(item, i);
    }
  }

  return {
    async forEach(items, work) {
      const mine = last.then(() => run(items, work));
      last = mine.catch(() => {});
      await mine;
    },
  };
}
