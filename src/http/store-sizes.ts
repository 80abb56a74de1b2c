import type { StoreState } from '../engine/store-state.ts';

export interface StoreSizesOptions {
  readonly read: () => Promise<StoreState>;
  /** ms since the epoch. */
  readonly now: () => number;
}

const AGE_MS_MAX = 5_000;
// Metrics must not wait for an engine that is busy or away.
const WAIT_MS_MAX = 1_000;

/**
 * What each source holds, read at most every five seconds, however many ask.
 *
 * @returns a function that gives what was read last where the engine fails or takes more than a second, and `undefined` where
 * nothing has been read yet
 */
export function createStoreSizes({ read, now }: StoreSizesOptions): () => Promise<StoreState | undefined> {
  let kept: { readonly state: StoreState; readonly atMs: number } | undefined;
  let reading: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    const atMs = now();
    try {
      kept = { state: await read(), atMs };
    } catch {
      // The old sizes stay; that the engine is away is told by a metric of its own.
    } finally {
      reading = undefined;
    }
  }

  return async () => {
    if (kept === undefined || Math.abs(now() - kept.atMs) >= AGE_MS_MAX) {
      reading ??= refresh();
      await withinTime(reading);
    }
    return kept?.state;
  };
}

async function withinTime(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, WAIT_MS_MAX);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
