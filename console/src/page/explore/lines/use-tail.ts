import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { parseJson, type Row } from '../../../api/answer.ts';
import { ApiError, useClient } from '../../../api/client.ts';
import { followTail } from '../../../api/follow.ts';
import { type Line, mergeLines, toLine } from './line.ts';
import { type LineSource, readSince } from './read.ts';

interface TailOptions {
  readonly live: boolean;
  /** New lines wait while the list is looked at: they would move it. */
  readonly held: boolean;
  /** The list: what it has does not wait. */
  readonly shown: readonly Line[];
  readonly onLines: (lines: readonly Line[]) => void;
}

export interface Tail {
  /** Lines that wait. */
  readonly count: number;
  /** Adds those that wait; further ones wait on. */
  readonly show: () => void;
  readonly error: ApiError | undefined;
}

/** Follows the new lines of a source by a live tail. They are added once the list is no longer held. */
export function useTail(source: LineSource, options: TailOptions): Tail {
  const { live, held, onLines } = options;
  const client = useClient();
  const [waiting, setWaiting] = useState<readonly Line[]>([]);
  const [error, setError] = useState<ApiError>();
  const { tail } = source;
  const latest = useRef({ source, ...options });
  latest.current = { source, ...options };

  const take = useCallback(
    (lines: readonly Line[]) => {
      if (!latest.current.held) return onLines(lines);
      const known = new Set(latest.current.shown.map(({ key }) => key));
      const found = lines.filter(({ key }) => !known.has(key));
      setWaiting((before) => mergeLines(before, found));
    },
    [onLines],
  );
  const show = useCallback(() => {
    onLines(waiting);
    setWaiting([]);
  }, [waiting, onLines]);
  useEffect(() => {
    if (!held && waiting.length > 0) show();
  }, [held, waiting, show]);

  useEffect(() => {
    if (!live) return;
    const stop = followTail(client, tail.path, {
      async catchUp(signal) {
        const found = await readSince(latest.current.source, latest.current.shown[0], signal);
        if (!signal.aborted && found.length > 0) take(found);
      },
      onOpen: () => setError(undefined),
      onRows: (rows) => take(rows.map((row) => toLine(parseJson(row) as Row))), // of the tail
      onFailure(failure) {
        if (failure instanceof ApiError) setError(failure);
      },
    });
    return () => {
      stop();
      setError(undefined);
      setWaiting([]);
    };
  }, [live, client, tail, take]);
  return { count: waiting.length, show, error };
}

/** Reports whether a list is looked at, before its next items come. A list that is gone is not. */
export function useHeld(isHeld: boolean, onHeld: (isHeld: boolean) => void): void {
  useLayoutEffect(() => onHeld(isHeld), [isHeld, onHeld]);
  useEffect(() => () => onHeld(false), [onHeld]);
}
