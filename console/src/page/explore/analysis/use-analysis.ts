import { keepPreviousData, skipToken, useQuery } from '@tanstack/react-query';
import { type Row, toAnswer } from '../../../api/answer.ts';
import { type ApiError, useClient } from '../../../api/client.ts';

export interface Analysis<T> {
  /** Undefined before the first answer; those of before stay while the range moves on. */
  readonly rows: readonly T[] | undefined;
  /** The share of events that was read, 0 to 1; undefined: all. */
  readonly sampled: number | undefined;
  readonly error: ApiError | undefined;
  readonly isReading: boolean;
}

/** Reads a part of a search that is one answer. @param path undefined: not yet @param toRow defined outside of components */
export function useAnalysis<T>(path: string | undefined, toRow: (row: Row) => T): Analysis<T> {
  const client = useClient();
  const { data, error, isFetching } = useQuery({
    queryKey: [path],
    queryFn:
      path === undefined
        ? skipToken
        : async ({ signal }) => {
            const raw = await client.callRaw(path, { signal });
            const sampled = Number(raw.headers.get('x-sampled') ?? 1);
            return {
              rows: toAnswer(raw).rows.map(toRow),
              sampled: sampled < 1 ? sampled : undefined,
            };
          },
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return { rows: data?.rows, sampled: data?.sampled, error: error ?? undefined, isReading: isFetching };
}
