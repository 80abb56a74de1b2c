import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type Line, mergeLines, parseAt } from './line.ts';
import {
  createRead,
  hasNewer,
  hasOlder,
  type LineSource,
  lengthen,
  type Read,
  readAround,
  readLater,
  readOlder,
} from './read.ts';
import { isRefused, useWork, type WorkState } from './use-work.tsx';

export interface Lines extends Pick<Read, 'source' | 'lines' | 'hint'> {
  readonly state: WorkState;
  /** Whether the lines are those of the source before, which stay until the new one has an answer. */
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

/** Reads the lines of a source page by page, newest first. @param at of a line: reads outwards from it */
export function useLines(source: LineSource, at: string): Lines {
  const { state, start, stop } = useWork();
  const empty = useMemo(() => createRead(source, at), [source, at]);
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
        const options = { signal, onRead };
        await (place === undefined ? readOlder(from, options) : readAround(from, place, options));
      }),
    [start, at],
  );
  useEffect(() => readOn(empty), [empty, readOn]);
  const moreNewer = () =>
    start(async (signal) => {
      const next = await readLater(current.current, { signal });
      if (!signal.aborted) setRead((before) => withAdded(next, before));
    });

  const isOld = read.source !== source;
  // A refresh that fails loses no lines.
  const isKept = state.kind === 'failed' && !isRefused(state) && read.source.events === source.events;
  // Of a search that was stopped before its first answer there are no lines.
  const shown = isOld && state.kind !== 'running' && !isKept ? empty : read;
  const { lines, slices, slicesRead, hint } = shown;
  return {
    ...{ source: shown.source, state, stop, lines, hint, isOld, slicesRead, moreNewer },
    hasMore: hasOlder(shown),
    hasNewer: hasNewer(shown),
    slices: slices.length,
    backToMs: slices[slicesRead - 1]?.fromMs ?? source.untilMs,
    more: () => readOn(isOld ? empty : lengthen(current.current)),
    add: useCallback(
      (found) => setRead((before) => ({ ...before, lines: mergeLines(before.lines, found) })),
      [],
    ),
  };
}

/** A live tail adds lines while a page is read. */
function withAdded(read: Read, before: Read): Read {
  return before.source === read.source ? { ...read, lines: mergeLines(before.lines, read.lines) } : read;
}
