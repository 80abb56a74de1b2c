/** A value that is read when it is asked for, at most once in a while. */
export interface Refreshed<T> {
  /**
   * The value last read, at once. Where it is older than the bound a new one is read behind the caller's back; only the very
   * first caller waits. A reading that fails leaves the old value, with the failure.
   *
   * @throws whatever the first reading throws
   */
  get(): Promise<Reading<T>>;
}

export interface Reading<T> {
  readonly value: T;
  /** When the value was asked for, ms since the epoch. */
  readonly readMs: number;
  /** Why it could not be read again since. */
  readonly failure?: unknown;
}

/**
 * @param read one at a time, however many ask
 * @param now ms since the epoch
 */
export function createRefreshed<T>(
  read: () => Promise<T>,
  { maxAgeMs, now }: { readonly maxAgeMs: number; readonly now: () => number },
): Refreshed<T> {
  let kept: Reading<T> | undefined;
  let reading: Promise<Reading<T>> | undefined;

  function refresh(): Promise<Reading<T>> {
    const readMs = now();
    reading ??= read()
      .then((value) => {
        kept = { value, readMs };
        return kept;
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  }

  return {
    async get() {
      if (kept === undefined) return await refresh();
      const { value, readMs } = kept;
      if (now() - readMs >= maxAgeMs) {
        // The next caller tries again, and is told.
        refresh().catch((failure: unknown) => {
          kept = { value, readMs, failure };
        });
      }
      return kept;
    },
  };
}
