/** A value that is read when it is asked for, at most once in a while. */
export interface Refreshed<T> {
  /**
   * The value last read, at once. Where it is older than the bound a new one is read behind the caller's back; only the very
   * first caller waits. A reading that fails leaves the old value.
   *
   * @throws whatever the first reading throws
   */
  get(): Promise<{ readonly value: T; readonly readMs: number }>;
}

/**
 * @param read one at a time, however many ask
 * @param now ms since the epoch
 */
export function createRefreshed<T>(
  read: () => Promise<T>,
  { maxAgeMs, now }: { readonly maxAgeMs: number; readonly now: () => number },
): Refreshed<T> {
  let kept: { value: T; readMs: number } | undefined;
  let reading: Promise<{ value: T; readMs: number }> | undefined;

  function refresh(): Promise<{ value: T; readMs: number }> {
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
      if (now() - kept.readMs >= maxAgeMs) refresh().catch(() => {}); // the next caller tries again
      return kept;
    },
  };
}
