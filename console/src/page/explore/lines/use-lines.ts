import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type Line, mergeLines } from './line.ts';
import { createRead, hasOlder, type LineSource, lengthen, type Read, readOlder } from './read.ts';
import { isRefused, useWork, type WorkState } from './use-work.tsx';

export interface Lines extends Pick<Read, 'source' | 'lines' | 'hint' | 'hasNewer'> {
  readonly state: WorkState;
  /** Whether the lines are those of the source before, which stay until the new one has an answer. */
  readonly isOld: boolean;
  /** Whether there may be older lines than those read. */
  readonly hasMore: boolean;
  readonly slices: number;
  readonly slicesRead: number;
  /** All lines since then are read, ms since the epoch. */
  readonly backToMs: number;
  /** Reads the next page, or continues after a stop or a failure. */
  readonly more: () => void;
  readonly stop: () => void;
  /** Adds newer lines, in any order. */
  readonly add: (lines: readonly Line[]) => void;
}

/** Reads the lines of a source page by page, newest first. @param at of a line: reads from it on */
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
        await readOlder(from, { signal, onRead });
      }),
    [start],
  );
  useEffect(() => readOn(empty), [empty, readOn]);

  const isOld = read.source !== source;
  // A refresh that fails loses no lines.
  const isKept = state.kind === 'failed' && !isRefused(state) && read.source.events === source.events;
  // Of a search that was stopped before its first answer there are no lines.
  const shown = isOld && state.kind !== 'running' && !isKept ? empty : read;
  const { lines, slices, slicesRead, hint, hasNewer } = shown;
  return {
    ...{ source: shown.source, state, stop, lines, hint, isOld, slicesRead, hasNewer },
    hasMore: hasOlder(shown),
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
