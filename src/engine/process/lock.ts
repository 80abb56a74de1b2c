import { untilAborted } from '../../lib/abort.ts';

/** A lock with a FIFO queue. @returns acquires the lock; throws the signal's reason when it aborts first */
export function createLock() {
  let last: Promise<void> = Promise.resolve();
  return async (signal: AbortSignal) => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const before = last;
    last = before.then(() => released);
    await untilAborted(before, signal).catch((error: unknown) => {
      release();
      throw error;
    });
    return {
      /** Idempotent. */
      release,
      /** Releases it after so many ms, at the latest. */
      releaseAfter: (ms: number) => void setTimeout(release, ms).unref(),
    };
  };
}
