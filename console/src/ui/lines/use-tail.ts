import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { parseJson, type Row } from '../../api/answer.ts';
import { ApiError, useClient } from '../../api/client.ts';
import { followTail, pause } from '../../api/follow.ts';
import { type Line, mergeLines } from './line.ts';
import { type LineSource, readSince } from './read.ts';

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

interface WaitingOptions<Item> {
  /** The list: what it has does not wait. */
  readonly shown: readonly Item[];
  readonly keyOf: (item: Item) => string;
  /** Items wait while the list is looked at: they would move it. */
  readonly held: boolean;
  /** Both in the order of the list. */
  readonly merge: (kept: readonly Item[], found: readonly Item[]) => readonly Item[];
  readonly onItems: (items: readonly Item[]) => void;
}

interface Waiting<Item> {
  readonly count: number;
  /** Adds items to the list, or lets them wait. */
  readonly take: (items: readonly Item[]) => void;
  /** Adds those that wait; further ones wait on. */
  readonly show: () => void;
  readonly drop: () => void;
}

/** New items of a list that follows them. They are added once the list is no longer held. */
function useWaiting<Item>(options: WaitingOptions<Item>): Waiting<Item> {
  const [waiting, setWaiting] = useState<readonly Item[]>([]);
  const { held, merge, onItems } = options;
  const latest = useRef(options);
  latest.current = options;
  const take = useCallback(
    (items: readonly Item[]) => {
      const { held: isHeld, shown, keyOf } = latest.current;
      if (!isHeld) return onItems(items);
      const known = new Set(shown.map(keyOf));
      setWaiting((before) =>
        merge(
          before,
          items.filter((item) => !known.has(keyOf(item))),
        ),
      );
    },
    [merge, onItems],
  );
  const show = useCallback(() => {
    onItems(waiting);
    setWaiting([]);
  }, [waiting, onItems]);
  const drop = useCallback(() => setWaiting([]), []);
  useEffect(() => {
    if (!held && waiting.length > 0) show();
  }, [held, waiting, show]);
  return { count: waiting.length, take, show, drop };
}

/** Reports whether a list is looked at, before its next items come. A list that is gone is not. */
export function useHeld(isHeld: boolean, onHeld: (isHeld: boolean) => void): void {
  useLayoutEffect(() => onHeld(isHeld), [isHeld, onHeld]);
  useEffect(() => () => onHeld(false), [onHeld]);
}
