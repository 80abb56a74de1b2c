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

/**
 * Creates a lock with a FIFO queue.
 *
 * @returns waits for the lock, and returns a function that releases it, idempotently; throws the signal's reason when
 *   it aborts first
 */
export function createLock() {
  let last: Promise<void> = Promise.resolve();
  return async (signal?: AbortSignal): Promise<() => void> => {
    signal?.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = last;
    last = before.then(() => promise);
    await (signal === undefined ? before : untilAborted(before, signal)).catch((error: unknown) => {
      resolve(); // whoever waits behind it waits only for those before it
      throw error;
    });
    return resolve;
  };
}
