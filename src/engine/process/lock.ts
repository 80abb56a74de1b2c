import { untilAborted } from '../../lib/abort.ts';

/** A lock that is held. */
export interface Lock {
  /** Releases it after so many ms, at the latest. */
  releaseAfter(ms: number): void;
  /** Idempotent. */
  release(): void;
}

/**
 * A lock with a FIFO queue.
 *
 * @returns acquires the lock; throws the signal's reason when it aborts first
 */
export function createLock(): (signal: AbortSignal) => Promise<Lock> {
  let last: Promise<void> = Promise.resolve();
  return async (signal) => {
    const { promise: released, resolve } = Promise.withResolvers<void>();
    const before = last;
    last = before.then(() => released);
    let timer: NodeJS.Timeout | undefined;
    const lock: Lock = {
      releaseAfter(ms) {
        timer = setTimeout(resolve, ms);
      },
      release() {
        clearTimeout(timer);
        resolve();
      },
    };
    await untilAborted(before, signal).catch((error: unknown) => {
      lock.release();
      throw error;
    });
    return lock;
  };
}
