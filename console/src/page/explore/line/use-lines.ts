import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useClient } from '../../../api/client.ts';
import { hasSameEvents, type Search } from '../search/search.ts';
import { isRefused, useWork, type WorkState } from '../search/use-work.ts';
import { parseAt } from './at.ts';
import { type Line, mergeLines } from './line.ts';
import {
  createRead,
  hasNewer,
  hasOlder,
  lengthen,
  type Read,
  readAround,
  readLater,
  readOlder,
} from './read.ts';

export interface Lines extends Pick<Read, 'search' | 'lines' | 'hint'> {
  readonly state: WorkState;
  /** Whether the lines are those of the search before, which stay until the new one has an answer. */
  readonly isOld: boolean;
  /** Whether there may be older lines than those read. */
  readonly hasMore: boolean;
  /** Whether there may be newer lines in the range: those around a line are read outwards from it. */
  readonly hasNewer: boolean;
  readonly slices: number;
  readonly slicesRead: number;
  /** All lines since then are read, ms since the epoch. */
  readonly backToMs: number;
  /** Reads the next page, or continues after a stop or a failure. */
  readonly more: () => void;
  /** Reads more of the newer lines. */
  readonly moreNewer: () => void;
  readonly stop: () => void;
  /** Adds newer lines, in any order. */
  readonly add: (lines: readonly Line[]) => void;
}

/** Reads the lines of a search page by page, newest first. @param at of a line: reads outwards from it */
export function useLines(search: Search, at: string): Lines {
  const client = useClient();
  const { state, start, stop } = useWork();
  const empty = useMemo(() => createRead(search, at), [search, at]);
  const [read, setRead] = useState<Read>(empty);
  const current = useRef(read);
  current.current = read;

  const readOn = useCallback(
    (from: Read) =>
      start(async (signal) => {
        const onRead = (next: Read) => {
          if (!signal.aborted) setRead((before) => withAdded(next, before));
        };
        const place = from.newer === undefined || from.lines.length > 0 ? undefined : parseAt(at);
        const options = { client, signal, onRead };
        await (place === undefined ? readOlder(from, options) : readAround(from, place, options));
      }),
    [client, start, at],
  );
  useEffect(() => readOn(empty), [empty, readOn]);
  const moreNewer = () =>
    start(async (signal) => {
      const next = await readLater(current.current, { client, signal });
      if (!signal.aborted) setRead((before) => withAdded(next, before));
    });

  const isOld = read.search !== search;
  // A refresh that fails loses no lines.
  const isKept = state.kind === 'failed' && !isRefused(state) && hasSameEvents(read.search, search);
  // Of a search that was stopped before its first answer there are no lines.
  const shown = isOld && state.kind !== 'running' && !isKept ? empty : read;
  const { lines, slices, slicesRead, hint } = shown;
  return {
    ...{ search: shown.search, state, stop, lines, hint, isOld, slicesRead, moreNewer },
    hasMore: hasOlder(shown),
    hasNewer: hasNewer(shown),
    slices: slices.length,
    backToMs: slices[slicesRead - 1]?.fromMs ?? search.untilMs,
    more: () => readOn(isOld ? empty : lengthen(current.current)),
    add: useCallback(
      (found) => setRead((before) => ({ ...before, lines: mergeLines(before.lines, found) })),
      [],
    ),
  };
}

/** A live tail adds lines while a page is read. */
function withAdded(read: Read, before: Read): Read {
  return before.search === read.search ? { ...read, lines: mergeLines(before.lines, read.lines) } : read;
}
