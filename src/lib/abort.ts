/** Settles like the promise, or rejects with the signal's reason as soon as it aborts; a later rejection is swallowed. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Returns a signal that aborts with the caller's reason when the caller's does, or with `late()` after `timeoutMs`. */
export function createDeadline(timeoutMs: number, late: () => Error, caller?: AbortSignal) {
  caller?.throwIfAborted();
  const controller = new AbortController();
  const onCaller = () => controller.abort(caller?.reason);
  const timer = setTimeout(() => controller.abort(late()), timeoutMs);
  caller?.addEventListener('abort', onCaller, { once: true });
  return {
    signal: controller.signal,
    /** Call it when the work is done, so that neither timer nor listener outlives it. */
    clear() {
      clearTimeout(timer);
      caller?.removeEventListener('abort', onCaller);
    },
  };
}

/** The slot that a holder has to give back. */
export interface Slot {
  /** Idempotent. */
  readonly release: () => void;
  /** Releases it after so many ms at the latest. */
  readonly releaseAfter: (ms: number) => void;
}

/**
 * Creates slots with a FIFO queue: `count` may be held at once. With one slot it is a lock.
 *
 * @returns acquires a slot; throws the signal's reason when it aborts first
 */
export function createSlots(count: number) {
  const waiting = new Set<() => void>();
  let free = count;

  function giveOn(): void {
    const [next] = waiting;
    if (next === undefined) {
      free++;
      return;
    }
    waiting.delete(next);
    next();
  }

  async function wait(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.add(resolve);
    if (signal === undefined) return await promise;
    await untilAborted(promise, signal).catch((error: unknown) => {
      if (!waiting.delete(resolve)) giveOn(); // it had been given the slot just before
      throw error;
    });
  }

  return async (signal?: AbortSignal): Promise<Slot> => {
    signal?.throwIfAborted();
    if (free > 0) free--;
    else await wait(signal);
    let isHeld = true;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      giveOn();
    };
    return { release, releaseAfter: (ms) => void setTimeout(release, ms).unref() };
  };
}
