import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError, type Client } from '../../../api/client.ts';
import { useClient } from '../../../api/queries.ts';
import { formatTime } from '../../../format/show.ts';
import { useZone } from '../../../preference.ts';
import { QuietButton, Tag } from '../../../ui/page-part.tsx';
import type { Search, Slice } from '../search.ts';

export type WorkState =
  | { readonly kind: 'idle' | 'running' | 'done' | 'stopped' }
  | { readonly kind: 'failed'; readonly error: ApiError };

/** Whether the service rejected the work, which fails again until the search changes. */
export function isRejected(state: WorkState): boolean {
  return state.kind === 'failed' && [400, 403, 404].includes(state.error.status);
}

/** Work of several requests, one at a time. It is not in the cache: a stop leaves a part, and a way to go on. */
export function useWork() {
  const [state, setState] = useState<WorkState>({ kind: 'idle' });
  const running = useRef<AbortController>(undefined);
  const start = useCallback((work: (signal: AbortSignal) => Promise<void>) => {
    running.current?.abort();
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    setState({ kind: 'running' });
    work(signal)
      .then(() => {
        if (!signal.aborted) setState({ kind: 'done' });
      })
      .catch((error: unknown) => {
        if (signal.aborted) return;
        if (error instanceof ApiError) setState({ kind: 'failed', error });
        else
          setState(() => {
            throw error; // where it is drawn: the page's boundary shows it
          });
      });
  }, []);
  /** Aborts the request in flight, which ends its query in the engine. */
  const stop = useCallback(() => {
    running.current?.abort();
    setState((before) => (before.kind === 'running' ? { kind: 'stopped' } : before));
  }, []);
  const reset = useCallback(() => {
    running.current?.abort();
    setState({ kind: 'idle' });
  }, []);
  useEffect(() => () => running.current?.abort(), []);
  return { state, start, stop, reset };
}

/** A search that is read slice by slice, newest first. */
export interface Sliced {
  readonly search: Search;
  readonly slices: readonly Slice[];
  /** Those that were read to their end. */
  readonly slicesRead: number;
}

export function hasOlder({ slices, slicesRead }: Sliced): boolean {
  return slicesRead < slices.length;
}

/** All since then is read, ms since the epoch. */
export function readBackTo({ search, slices, slicesRead }: Sliced): number {
  return slices[slicesRead - 1]?.fromMs ?? search.untilMs;
}

export interface ReadOptions<T> {
  readonly client: Client;
  readonly signal: AbortSignal;
  /** Called with all that is read so far. */
  readonly onRead: (read: T) => void;
}

/** Constant functions, and whether it is time. */
interface Reading<T> {
  readonly isReady?: boolean;
  readonly readOlder: (from: T, options: ReadOptions<T>) => Promise<void>;
  /** Puts what is read into the place of what was. */
  readonly merge?: (read: T, before: T) => T;
}

/** Reads a search, as soon as it is ready: another `empty` begins anew. What was read of the one before stays until then. */
export function useSlices<T extends Sliced>(empty: T, { isReady = true, readOlder, merge }: Reading<T>) {
  const client = useClient();
  const { state, start, stop, reset } = useWork();
  const [read, setRead] = useState(empty);
  const readOn = useCallback(
    (from: T) =>
      start((signal) => {
        const onRead = (next: T) => {
          if (!signal.aborted) setRead((before) => merge?.(next, before) ?? next);
        };
        return readOlder(from, { client, signal, onRead });
      }),
    [client, start, readOlder, merge],
  );
  useEffect(() => {
    if (isReady) readOn(empty);
    else reset();
  }, [isReady, empty, readOn, reset]);
  return { state, stop, read, setRead, readOn };
}

interface WorkNoteProps {
  readonly state: WorkState;
  /** `Counting` */
  readonly doing: string;
  /** `The counts` */
  readonly what: string;
  readonly progress: Sliced;
  readonly onResume: () => void;
}

export function WorkNote({ state, doing, what, progress, onResume }: WorkNoteProps) {
  const zone = useZone();
  const { slices, slicesRead } = progress;
  const back = slicesRead > 0 ? ` back to ${formatTime(readBackTo(progress), zone)}` : '';
  const share = slices.length > 1 ? `, ${slicesRead} of ${slices.length}` : '';
  if (state.kind === 'running')
    return (
      <span className="small muted number" role="status">
        {doing}
        {back}
        {share}…
      </span>
    );
  if (state.kind !== 'stopped' && state.kind !== 'failed') return null;
  // What the service rejects has no parts.
  if (isRejected(state)) return null;
  return (
    <span className="work-note small number" role="status">
      <Tag tone={state.kind === 'failed' ? 'bad' : 'warn'}>partial</Tag>
      {state.kind === 'failed' ? `${what} failed: ${state.error.message}` : `Stopped${back}${share}`}
      <QuietButton onClick={onResume}>{state.kind === 'failed' ? 'Retry' : 'Continue'}</QuietButton>
    </span>
  );
}
