import { startTask } from '../lib/task.ts';

export type ChangeWatch = Awaited<ReturnType<typeof openChangeWatch>>;

export interface ChangeWatchOptions {
  /** Returns the number of changes so far. */
  readonly probe: () => Promise<number>;
  /** Drops cached records that have changed. @param since the last change that was applied; `undefined`: drop all */
  readonly invalidate: (since: number | undefined) => Promise<void>;
  /** Called once with the failure when probes begin to fail, and once without when they succeed again. */
  readonly onState: (failure?: unknown) => void;
  /** Monotonic ms. */
  readonly ticks: () => number;
}

const EVERY_MS = 500;

/**
 * Probes a store for the changes of other processes: once before it resolves, then every half second, one probe at a time.
 *
 * @throws the failure of the first probe
 */
export async function openChangeWatch(options: ChangeWatchOptions) {
  const { probe, invalidate, onState, ticks } = options;
  let seenAtMs = ticks();
  let seen = await probe();
  let isDown = false;
  let isClosed = false;

  async function probeAgain(): Promise<void> {
    const startMs = ticks();
    try {
      const now = await probe();
      // First invalidate, then count as fresh. A database that was down, or has fewer changes than before, may be another one now.
      if (isDown || now < seen) await invalidate(undefined);
      else if (now > seen) await invalidate(seen);
      seen = now;
      seenAtMs = startMs;
      if (isDown && !isClosed) onState();
      isDown = false;
    } catch (error) {
      if (!isDown && !isClosed) onState(error);
      isDown = true;
    }
  }

  // Its failures are states, reported by `onState`.
  const probing = startTask({ name: 'key-changes', everyMs: EVERY_MS, run: probeAgain });
  return {
    /** ms since the start of the last successful probe: cached records are not older than that. */
    ageMs: () => ticks() - seenAtMs,
    /** Whether the last probe failed. */
    isDown: () => isDown,
    async close() {
      isClosed = true;
      await probing.stop();
    },
  };
}
