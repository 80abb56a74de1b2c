import { useEffect, useState } from 'react';
import { ApiError, type CallOptions, useClient } from './client.ts';

export interface Loaded<T> {
  /** The last value read; a failed read keeps it. */
  readonly value: T | undefined;
  readonly error: ApiError | undefined;
  /** Reads again now. */
  readonly reload: () => void;
}

/**
 * Reads a path of the API.
 *
 * @param everyMs the interval of repeated reads while the page is visible; by default it reads once
 */
export function useLoad<T>(path: string | undefined, everyMs?: number): Loaded<T> {
  const client = useClient();
  const [state, setState] = useState<Pick<Loaded<T>, 'value' | 'error'> & { path?: string | undefined }>({
    value: undefined,
    error: undefined,
  });
  const [round, setRound] = useState(0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `round` is how a reading is asked for again
  useEffect(() => {
    if (path === undefined) return;
    const controller = new AbortController();
    const options: CallOptions = { signal: controller.signal };
    let timer: number | undefined;
    const next = () => {
      if (everyMs !== undefined && !controller.signal.aborted) timer = window.setTimeout(read, everyMs);
    };
    const read = () => {
      if (document.hidden && everyMs !== undefined) return next();
      client
        .call<T>(path, options)
        .then((value) => setState({ value, error: undefined, path }))
        .catch((error: unknown) => {
          if (error instanceof ApiError) setState((before) => ({ ...before, error, path }));
        })
        .finally(next);
    };
    // Visible again: read at once instead of waiting for the interval.
    const onVisible = () => {
      if (document.hidden || everyMs === undefined) return;
      clearTimeout(timer);
      read();
    };
    document.addEventListener('visibilitychange', onVisible);
    read();
    return () => {
      controller.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [client, path, everyMs, round]);

  const isOther = state.path !== path;
  return {
    value: isOther ? undefined : state.value,
    error: isOther ? undefined : state.error,
    reload: () => setRound((before) => before + 1),
  };
}
