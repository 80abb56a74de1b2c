import { setTimeout as wait } from 'node:timers/promises';

/** Looks again and again whether anything has changed in a store that others write to. */
export interface ChangeWatch {
  /** ms since the last look that was answered began: what is known is not older than that. */
  ageMs(): number;
  /** Whether the last look failed. */
  isAway(): boolean;
  close(): Promise<void>;
}

export interface ChangeWatchOptions {
  /** How many changes there were. */
  readonly look: () => Promise<number>;
  /**
   * Makes everybody forget what has changed.
   *
   * @param since changes before this one were heeded; `undefined`: whatever was known may be wrong
   */
  readonly follow: (since: number | undefined) => Promise<void>;
  /** Told once when looks begin to fail, with why, and once when they are answered again. */
  readonly onState: (failure?: unknown) => void;
  /** ms that never go back, from any beginning. */
  readonly ticks: () => number;
}

const EVERY_MS = 500;

/** One look at a time; the first before it returns. @throws what the first look fails with */
export async function openChangeWatch(options: ChangeWatchOptions): Promise<ChangeWatch> {
  const { look, follow, onState, ticks } = options;
  const stop = new AbortController();
  let seenAtMs = ticks();
  let seen = await look();
  let isAway = false;

  async function lookAgain(): Promise<void> {
    const startMs = ticks();
    try {
      const now = await look();
      // Before it counts as fresh. A database that was away, or has fewer changes than before, may be another by now.
      if (isAway || now < seen) await follow(undefined);
      else if (now > seen) await follow(seen);
      seen = now;
      seenAtMs = startMs;
      if (isAway && !stop.signal.aborted) onState();
      isAway = false;
    } catch (error) {
      if (!isAway && !stop.signal.aborted) onState(error);
      isAway = true;
    }
  }

  async function watch(): Promise<void> {
    while (!stop.signal.aborted) {
      await wait(EVERY_MS, undefined, { signal: stop.signal, ref: false }).catch(() => {});
      if (!stop.signal.aborted) await lookAgain();
    }
  }

  const watching = watch();
  return {
    ageMs: () => ticks() - seenAtMs,
    isAway: () => isAway,
    async close() {
      stop.abort();
      await watching;
    },
  };
}
