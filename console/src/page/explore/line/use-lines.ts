import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type Client, useClient } from '../../../api/client.ts';
import { toAnswer } from '../../endpoint/answer.ts';
import { findNext, hasSameEvents, type Search, searchPath } from '../search/search.ts';
import { planSlices, type Slice } from '../search/slice.ts';
import { isRefused, useWork, type WorkState } from '../search/use-work.ts';
import { atOf, LINES_MAX, type Line, mergeLines, toLine } from './line.ts';

/** The lines of a search that were read so far. */
interface Read {
  readonly search: Search;
  readonly lines: readonly Line[];
  readonly slices: readonly Slice[];
  /** Slices that were read to their end. */
  readonly slicesRead: number;
  /** Continues within the slice. */
  readonly cursor: string | undefined;
  /** Rows of a page; a cursor holds for pages of one length. */
  readonly limit: number;
  /** What may be wrong with a search that finds nothing. */
  readonly hint: string | undefined;
}

export interface Lines extends Pick<Read, 'search' | 'lines' | 'hint'> {
  readonly state: WorkState;
  /** Whether the lines are those of the search before, which stay until the new one has an answer. */
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

/** The first page is there soon. */
const FIRST_ROWS = 200;
/** As many as the service allows. */
const NEXT_ROWS = 1_000;

/** Reads the lines of a search page by page, newest first. @param at of a line: reads on until it is found */
export function useLines(search: Search, at: string): Lines {
  const client = useClient();
  const { state, start, stop } = useWork();
  const isFar = at !== '';
  const empty = useMemo(() => createRead(search, isFar ? NEXT_ROWS : FIRST_ROWS), [search, isFar]);
  const [read, setRead] = useState<Read>(empty);
  const current = useRef(read);
  current.current = read;

  const readOn = useCallback(
    (from: Read) =>
      start(async (signal) => {
        let next = from;
        const isEnough = () =>
          next.lines.length >= LINES_MAX ||
          (next.lines.length >= from.lines.length + FIRST_ROWS &&
            (at === '' || next.lines.some((line) => atOf(line) === at)));
        do {
          next = await readPage(client, next, signal);
          if (signal.aborted) return;
          const page = next;
          setRead((before) => withAdded(page, before));
        } while (next.slicesRead < next.slices.length && !isEnough());
      }),
    [client, start, at],
  );
  useEffect(() => readOn(empty), [empty, readOn]);

  const isOld = read.search !== search;
  // A refresh that fails loses no lines.
  const isKept = state.kind === 'failed' && !isRefused(state) && hasSameEvents(read.search, search);
  // Of a search that was stopped before its first answer there are no lines.
  const shown = isOld && state.kind !== 'running' && !isKept ? empty : read;
  const { lines, slices, slicesRead, hint } = shown;
  return {
    ...{ search: shown.search, state, stop, lines, hint, isOld, slicesRead },
    hasMore: slicesRead < slices.length,
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

function createRead(search: Search, limit: number): Read {
  const slices = planSlices(search);
  return { search, lines: [], slices, slicesRead: 0, cursor: undefined, limit, hint: undefined };
}

/** Goes on with long pages: first with one that begins at the millisecond of the last line. */
function lengthen(read: Read): Read {
  const { lines, slices, slicesRead, limit } = read;
  const [last, slice] = [lines.at(-1), slices[slicesRead]];
  if (limit === NEXT_ROWS || last === undefined || slice === undefined) return read;
  const untilMs = Math.min(slice.untilMs, Math.floor(last.micros / 1000) + 1);
  return {
    ...read,
    slices: slices.with(slicesRead, { ...slice, untilMs }),
    cursor: undefined,
    limit: NEXT_ROWS,
  };
}

/** @throws ApiError */
async function readPage(client: Client, read: Read, signal: AbortSignal): Promise<Read> {
  const { search, slices, slicesRead, cursor, limit } = read;
  const path = searchPath(search, slices[slicesRead], {
    limit: String(limit),
    ...(cursor !== undefined && { cursor }),
  });
  const raw = await client.callRaw(path, { signal });
  const next = findNext(raw.headers);
  return {
    ...read,
    lines: mergeLines(read.lines, toAnswer(raw).rows.map(toLine)),
    slicesRead: next === undefined ? slicesRead + 1 : slicesRead,
    cursor: next,
    hint: raw.headers.get('x-tailrace-hint') ?? read.hint,
  };
}
