import { useEffect, useRef, useState } from 'react';
import { parseJson, type Row } from '../../api/answer.ts';
import { ApiError, useClient } from '../../api/client.ts';
import { followTail, pause } from '../../api/follow.ts';
import { useWaiting, type Waiting } from '../use-waiting.ts';
import { type Line, mergeLines } from './line.ts';
import { readSince } from './read.ts';
import type { LineSource } from './source.ts';

interface TailOptions {
  readonly live: boolean;
  /** New lines wait. */
  readonly held: boolean;
  readonly shown: readonly Line[];
  readonly onLines: (lines: readonly Line[]) => void;
}

export interface Tail extends Pick<Waiting<Line>, 'count' | 'show'> {
  readonly error: ApiError | undefined;
}

/** Follows the new lines of a source: by a live tail, or by polling if it has none. */
export function useTail(source: LineSource, { live, held, shown, onLines }: TailOptions): Tail {
  const client = useClient();
  const { count, take, show, drop } = useWaiting({
    ...{ held, merge: mergeLines, onItems: onLines, shown },
    keyOf: ({ key }) => key,
  });
  const [error, setError] = useState<ApiError>();
  const { tail } = source;
  const latest = useRef({ source, newest: shown[0] });
  latest.current = { source, newest: shown[0] };

  useEffect(() => {
    if (!live || tail === undefined) return;
    const onOpen = () => setError(undefined);
    const onFailure = (failure: unknown) => {
      if (failure instanceof ApiError) setError(failure);
    };
    const catchUp = async (signal: AbortSignal) => {
      const found = await readSince(latest.current.source, latest.current.newest, signal);
      if (!signal.aborted && found.length > 0) take(found);
    };
    const onRows = (rows: readonly string[]) => take(rows.map((row) => tail.toLine(parseJson(row) as Row))); // of the tail
    const stop =
      tail.path === undefined
        ? repeat((signal) => catchUp(signal).then(onOpen, onFailure))
        : followTail(client, tail.path, { catchUp, onOpen, onRows, onFailure });
    return () => {
      stop();
      setError(undefined);
      drop();
    };
  }, [live, client, tail, take, drop]);
  return { count, show, error };
}

const EVERY_MS = 2_000;

/** Repeats work with a pause in between while the page is visible. @returns a function that stops it */
function repeat(work: (signal: AbortSignal) => Promise<void>): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  const run = async () => {
    while (!signal.aborted) {
      if (!document.hidden) await work(signal);
      await pause(EVERY_MS, signal);
    }
  };
  void run();
  return () => controller.abort();
}
