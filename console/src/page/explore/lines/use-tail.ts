import { useCallback, useEffect, useRef, useState } from 'react';
import { parseJson, type Row } from '../../../api/answer.ts';
import { ApiError, useClient } from '../../../api/client.ts';
import { followTail } from '../../../api/follow.ts';
import { type Search, searchPath } from '../search/search.ts';
import { type Line, mergeLines, toLine } from './line.ts';
import { readSince } from './read.ts';
import type { Lines } from './use-lines.ts';

interface TailOptions {
  readonly live: boolean;
  /** New lines wait while the list is looked at: they would move it. */
  readonly held: boolean;
}

/** Follows the new lines of a search by a live tail. They are added once the list is no longer held. */
export function useTail(search: Search, lines: Lines, { live, held }: TailOptions) {
  const client = useClient();
  const [waiting, setWaiting] = useState<readonly Line[]>([]);
  const [error, setError] = useState<ApiError>();
  const latest = useRef({ search, shown: lines.lines });
  latest.current = { search, shown: lines.lines };
  const path = searchPath(search, undefined, {});
  const { add } = lines;

  /** Adds those that wait; further ones wait on. */
  const show = useCallback(() => {
    add(waiting);
    const added = new Set(waiting);
    setWaiting((before) => before.filter((line) => !added.has(line)));
  }, [waiting, add]);
  useEffect(() => {
    if (!held && waiting.length > 0) show();
  }, [held, waiting, show]);

  useEffect(() => {
    if (!live) return;
    // What the list has does not wait.
    const take = (found: readonly Line[]) => {
      const known = new Set(latest.current.shown.map(({ key }) => key));
      const further = found.filter(({ key }) => !known.has(key));
      setWaiting((before) => mergeLines(before, further));
    };
    const controller = new AbortController();
    const { signal } = controller;
    void followTail(client.openEvents, path, {
      signal,
      async catchUp() {
        const { search: now, shown } = latest.current;
        const found = await readSince(now, shown[0], { client, signal });
        if (!signal.aborted) take(found);
      },
      onOpen: () => setError(undefined),
      onRows: (rows) => take(rows.map((row) => toLine(parseJson(row) as Row))), // of the tail
      onFailure(failure) {
        if (failure instanceof ApiError) setError(failure);
      },
    });
    return () => {
      controller.abort();
      setError(undefined);
      setWaiting([]);
    };
  }, [live, client, path]);
  return { count: waiting.length, show, error };
}
