import { useInfiniteQuery } from '@tanstack/react-query';
import { type ApiError, useClient } from './client.ts';

export interface Pages<T> {
  /** The items read so far, newest first; `undefined` before the first page. */
  readonly items: readonly T[] | undefined;
  readonly error: ApiError | undefined;
  readonly busy: boolean;
  /** Whether there may be older items. */
  readonly hasMore: boolean;
  readonly loadMore: () => void;
}

/** The keys of all pages in the cache begin with it. */
export const PAGES = ['pages'] as const;

interface PagesOptions {
  /** Items per page. */
  readonly size: number;
  readonly isWanted?: boolean;
}

/** Reads a paged list of the API, newest first: `?limit=&before=`, where `before` is the id of the last item read. */
export function usePages<T extends { readonly id: string | number }>(
  path: string,
  { size, isWanted = true }: PagesOptions,
): Pages<T> {
  const client = useClient();
  const { data, error, isFetching, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: [...PAGES, path, size],
    queryFn: async ({ pageParam: before, signal }) => {
      const query = new URLSearchParams({
        limit: String(size),
        ...(before !== undefined && { before: String(before) }),
      });
      const address = `${path}${path.includes('?') ? '&' : '?'}${query}`;
      const { result } = await client.call<{ result: T[] }>(address, ['result'], { signal });
      return result;
    },
    initialPageParam: undefined as T['id'] | undefined, // the first page has no bound
    getNextPageParam: (page) => (page.length < size ? undefined : page.at(-1)?.id),
    enabled: isWanted,
  });
  return {
    items: data?.pages.flat(),
    error: error ?? undefined,
    busy: isFetching,
    hasMore: hasNextPage,
    loadMore: () => void fetchNextPage(),
  };
}
