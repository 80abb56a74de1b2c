import { skipToken, useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { type ApiError, type Client, useClient } from './client.ts';

export type Run<T> =
  | { readonly state: 'idle' | 'stopped' }
  | { readonly state: 'running'; readonly before: T | undefined }
  | { readonly state: 'done'; readonly value: T }
  | { readonly state: 'failed'; readonly error: ApiError };

/** A request that the user makes. */
interface Wanted<T> {
  /** Another key is another run, which aborts the one before, in the engine too. */
  readonly key: readonly (string | number)[];
  /** @throws ApiError */
  readonly read: (client: Client, signal: AbortSignal) => Promise<T>;
}

/** Runs what is wanted, once for each key. Nothing is kept: the same is computed again when it is wanted again. */
export function useRun<T>(wanted: Wanted<T> | undefined): Run<T> {
  const client = useClient();
  const before = useRef<T>(undefined);
  const { data, error } = useQuery({
    queryKey: wanted?.key ?? ['nothing'],
    queryFn: wanted === undefined ? skipToken : ({ signal }) => wanted.read(client, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    structuralSharing: false, // answers are large, and may have bigints
  });
  if (wanted === undefined || error !== null) before.current = undefined;
  if (data !== undefined) before.current = data;
  if (wanted === undefined) return { state: 'idle' };
  if (error !== null) return { state: 'failed', error };
  return data === undefined ? { state: 'running', before: before.current } : { state: 'done', value: data };
}

export function latestOf<T>(run: Run<T>): T | undefined {
  return run.state === 'done' ? run.value : run.state === 'running' ? run.before : undefined;
}
