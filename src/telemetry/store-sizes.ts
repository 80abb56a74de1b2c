import type { StoreState } from '../engine/store-state.ts';

/** The content of the tables. Metrics and the overview both read it here, so that they agree. */
export interface StoreSizes {
  readonly tables: StoreState;
  /** When the tables were read, ms since the epoch. */
  readonly readMs: number;
  /** Whether the engine has failed since. */
  readonly hasFailed: boolean;
}

const AGE_MS_MAX = 5_000;
// Neither a scrape nor the overview may wait for an engine that is busy, closing or unavailable.
const WAIT_MS_MAX = 1_000;

/**
 * Reads the tables at most once in five seconds, for all callers together.
 *
 * @param read one call at a time
 * @param now ms since the epoch
 * @returns a function that returns the last sizes if the engine fails or takes longer than a second, and `undefined` if
 *   there are none yet
 */
export function createStoreSizes(
  read: () => Promise<StoreState>,
  now: () => number,
): () => Promise<StoreSizes | undefined> {
  let kept: StoreSizes | undefined;
  let reading: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    const readMs = now();
    try {
      kept = { tables: await read(), readMs, hasFailed: false };
    } catch {
      kept = kept && { ...kept, hasFailed: true }; // the state of the engine is another metric
    } finally {
      reading = undefined;
    }
  }

  return async () => {
    if (kept === undefined || Math.abs(now() - kept.readMs) >= AGE_MS_MAX) {
      reading ??= refresh();
      const late = new Promise((resolve) => setTimeout(resolve, WAIT_MS_MAX).unref());
      await Promise.race([reading, late]);
    }
    return kept;
  };
}
