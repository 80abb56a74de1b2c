import { useEffect, useEffectEvent, useState } from 'react';
import { ApiError, type CallOptions, type Needs, useClient } from './client.ts';
import { useRaise } from './use-raise.ts';

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
 * @param needs what an answer has to have: another one is an error
 * @param everyMs the interval of repeated reads while the page is visible; by default it reads once
 */
export function useLoad<T>(path: string | undefined, needs: Needs<T>, everyMs?: number): Loaded<T> {
  const client = useClient();
  const raise = useRaise();
  const call = useEffectEvent((from: string, options: CallOptions) => client.call<T>(from, needs, options));
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
      call(path, options)
        .then((value) => setState({ value, error: undefined, path }))
        .catch((error: unknown) => {
          if (error instanceof ApiError) setState((before) => ({ ...before, error, path }));
          else if (!controller.signal.aborted) raise(error);
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
