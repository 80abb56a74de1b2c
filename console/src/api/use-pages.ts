import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError, useClient } from './client.ts';
import { useRaise } from './use-raise.ts';

export interface Pages<T> {
  /** The items read so far, newest first; `undefined` before the first page. */
  readonly items: readonly T[] | undefined;
  readonly error: ApiError | undefined;
  readonly busy: boolean;
  /** Whether there may be older items. */
  readonly hasMore: boolean;
  readonly loadMore: () => void;
  /** Reads the shown items again. */
  readonly reload: () => void;
}

interface PagesOptions {
  /** Items per page. */
  readonly size: number;
}

const LIMIT_MAX = 1_000;

/**
 * Reads a paged list of the API, newest first: `?limit=&before=`, where `before` is the id of the last item read.
 *
 * @param path may have a query; without a path nothing is read
 */
export function usePages<T extends { readonly id: string | number }>(
  path: string | undefined,
  { size }: PagesOptions,
): Pages<T> {
  const client = useClient();
  const [items, setItems] = useState<readonly T[]>();
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const [hasMore, setHasMore] = useState(false);
  const raise = useRaise();
  const running = useRef<AbortController>(undefined);

  const read = useCallback(
    async (known: readonly T[], limit: number) => {
      if (path === undefined) return;
      running.current?.abort(); // of two reads the later one counts
      const controller = new AbortController();
      running.current = controller;
      setBusy(true);
      const before = known.at(-1)?.id;
      const query = new URLSearchParams({
        limit: String(limit),
        ...(before !== undefined && { before: String(before) }),
      });
      try {
        const { signal } = controller;
        const { result } = await client.call<{ result: T[] }>(
          `${path}${path.includes('?') ? '&' : '?'}${query}`,
          ['result'],
          { signal },
        );
        setItems([...known, ...result]);
        setHasMore(result.length === limit);
        setError(undefined);
      } catch (failure) {
        if (controller.signal.aborted) return;
        if (failure instanceof ApiError) setError(failure);
        else raise(failure);
      }
      setBusy(false);
    },
    [client, path, raise],
  );

  useEffect(() => {
    void read([], size);
    return () => running.current?.abort();
  }, [read, size]);

  const shown = items ?? [];
  return {
    items,
    error,
    busy,
    hasMore,
    loadMore: () => void read(shown, size),
    reload: () => void read([], Math.min(LIMIT_MAX, Math.max(size, shown.length))),
  };
}
