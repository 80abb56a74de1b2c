/** A value that is served stale while it is refreshed. */
export interface RefreshingValue<T> {
  /**
   * Returns the last value at once. If it is older than `maxAgeMs`, a refresh starts in the background; only the very first
   * caller waits. A refresh that fails leaves the value and sets `failure`.
   *
   * @throws what the first read throws
   */
  get(): Promise<TimedValue<T>>;
}

export interface TimedValue<T> {
  readonly value: T;
  /** When its read started, ms since the epoch. */
  readonly readMs: number;
  /** The failure of the last refresh, if it failed. */
  readonly failure?: unknown;
}

/**
 * @param read is called once at a time, however many callers wait
 * @param now ms since the epoch
 */
export function createRefreshingValue<T>(
  read: () => Promise<T>,
  { maxAgeMs, now }: { readonly maxAgeMs: number; readonly now: () => number },
): RefreshingValue<T> {
  let last: TimedValue<T> | undefined;
  let pending: Promise<TimedValue<T>> | undefined;

  function refresh(): Promise<TimedValue<T>> {
    pending ??= readOnce().finally(() => {
      pending = undefined;
    });
    return pending;
  }

  async function readOnce(): Promise<TimedValue<T>> {
    const readMs = now();
    last = { value: await read(), readMs };
    return last;
  }

  return {
    async get() {
      if (last === undefined) return await refresh();
      const { value, readMs } = last;
      if (now() - readMs >= maxAgeMs)
        refresh().catch((failure: unknown) => {
          last = { value, readMs, failure };
        });
      return last;
    },
  };
}
