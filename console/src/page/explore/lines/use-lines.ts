import { useCallback, useEffect, useMemo, useState } from 'react';
import { useClient } from '../../../api/client.ts';
import { hasSameEvents, type Search } from '../search/search.ts';
import { type Line, mergeLines } from './line.ts';
import { createRead, hasOlder, type Read, readOlder } from './read.ts';
import { isRejected, useWork } from './use-work.tsx';

/** Reads the lines of a search page by page, newest first. @param at of a line: reads from it on */
export function useLines(search: Search, at: string) {
  const client = useClient();
  const { state, start, stop } = useWork();
  const empty = useMemo(() => createRead(search, at), [search, at]);
  const [read, setRead] = useState<Read>(empty);

  const readOn = useCallback(
    (from: Read) =>
      start(async (signal) => {
        const onRead = (next: Read) => {
          if (!signal.aborted) setRead((before) => withAdded(next, before));
        };
        await readOlder(from, { client, signal, onRead });
      }),
    [client, start],
  );
  useEffect(() => readOn(empty), [empty, readOn]);

  const isOld = read.search !== search;
  // A refresh that fails loses no lines.
  const isKept = state.kind === 'failed' && !isRejected(state) && hasSameEvents(read.search, search);
  // Of a search that was stopped before its first answer there are no lines.
  const shown = isOld && state.kind !== 'running' && !isKept ? empty : read;
  const { slices, slicesRead } = shown;
  return {
    ...shown,
    state,
    stop,
    /** Whether the lines are those of the search before, which stay until the new one has an answer. */
    isOld,
    /** Whether there may be older lines than those read. */
    hasMore: hasOlder(shown),
    slices: slices.length,
    /** All lines since then are read, ms since the epoch. */
    backToMs: slices[slicesRead - 1]?.fromMs ?? search.untilMs,
    /** Reads the next page, or continues after a stop or a failure. */
    more: () => readOn(isOld ? empty : read),
    /** Adds newer lines, in any order. */
    add: useCallback(
      (found: readonly Line[]) =>
        setRead((before) => ({ ...before, lines: mergeLines(before.lines, found) })),
      [],
    ),
  };
}

/** A live tail adds lines while a page is read. */
function withAdded(read: Read, before: Read): Read {
  return before.search === read.search ? { ...read, lines: mergeLines(before.lines, read.lines) } : read;
}
