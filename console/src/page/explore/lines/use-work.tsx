import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError } from '../../../api/client.ts';
import { formatTime } from '../../../format/show.ts';
import { useZone } from '../../../preference.ts';
import { QuietButton, Tag } from '../../../ui/page-part.tsx';

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

interface WorkNoteProps {
  readonly state: WorkState;
  /** `Counting` */
  readonly doing: string;
  /** `The counts` */
  readonly what: string;
  readonly progress: {
    readonly slices: number;
    readonly slicesRead: number;
    /** ms since the epoch. */
    readonly backToMs: number;
  };
  readonly onResume: () => void;
}

export function WorkNote({ state, doing, what, progress, onResume }: WorkNoteProps) {
  const zone = useZone();
  const { slices, slicesRead, backToMs } = progress;
  const back = slicesRead > 0 ? ` back to ${formatTime(backToMs, zone)}` : '';
  const share = slices > 1 ? `, ${slicesRead} of ${slices}` : '';
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
