import { useCallback, useMemo } from 'react';
import { toAnswer } from '../../../api/answer.ts';
import { hasSameEvents, planSlices, type Search, type Slice, searchPath } from '../search.ts';
import { LINES_MAX, type Line, mergeLines, parseAt, toLine } from './line.ts';
import { hasOlder, isRejected, type ReadOptions, type Sliced, useSlices } from './use-work.tsx';

/** Reads the lines of a search page by page, newest first. @param at of a line: reads from it on */
export function useLines(search: Search, at: string) {
  const empty = useMemo(() => createRead(search, at), [search, at]);
  const { state, stop, read, setRead, readOn } = useSlices(empty, { readOlder, merge: withAdded });
  const isOld = read.search !== search;
  // A refresh that fails loses no lines.
  const isKept = state.kind === 'failed' && !isRejected(state) && hasSameEvents(read.search, search);
  // A search that was stopped before its first answer has no lines.
  const shown = isOld && state.kind !== 'running' && !isKept ? empty : read;
  return {
    ...shown,
    ...{ state, stop },
    /** Whether the lines are those of the search before, which stay until the new one has an answer. */
    isOld,
    hasMore: hasOlder(shown),
    /** Reads the next page, or continues after a stop or a failure. */
    more: () => readOn(isOld ? empty : read),
    add: useCallback(
      (found: readonly Line[]) =>
        setRead((before) => ({ ...before, lines: mergeLines(before.lines, found) })),
      [setRead],
    ),
  };
}

/** A live tail adds lines while a page is read. */
function withAdded(read: Read, before: Read): Read {
  return before.search === read.search ? { ...read, lines: mergeLines(before.lines, read.lines) } : read;
}

export interface Read extends Sliced {
  readonly lines: readonly Line[];
  /** Continues within the slice. */
  readonly cursor: string | undefined;
  /** What may be wrong with a search that finds nothing. */
  readonly hint: string | undefined;
  /** The instant of the line from which it is read, microseconds since the epoch. */
  readonly atMicros: number | undefined;
  /** Whether there may be newer lines in the range than those read. */
  readonly hasNewer: boolean;
}

/** Rows of a page, so that it is there soon. */
const PAGE_ROWS = 200;
/** As many as the service allows. */
const ROWS_MAX = 1_000;

/** @param at of a line within the range: it is read from there on, else from the newest line on */
export function createRead(search: Search, at: string): Read {
  const micros = parseAt(at)?.micros ?? Number.NaN;
  const isWithin = search.fromMs * 1_000 <= micros && micros < Math.round(search.untilMs * 1_000);
  return {
    ...{ search, lines: [], slicesRead: 0, cursor: undefined, hint: undefined, hasNewer: false },
    slices: planSlices(isWithin ? { ...search, untilMs: micros / 1_000 } : search),
    atMicros: isWithin ? micros : undefined,
  };
}

/** Reads at least a page of older lines, if there are as many; first the line to begin with, and those after it. @throws ApiError */
export async function readOlder(from: Read, options: ReadOptions<Read>): Promise<void> {
  const { atMicros, lines } = from;
  let read = atMicros === undefined || lines.length > 0 ? from : await readAfter(from, atMicros, options);
  do {
    read = await readNext(read, options);
    options.onRead(read);
  } while (hasOlder(read) && read.lines.length < Math.min(LINES_MAX, lines.length + PAGE_ROWS));
}

type Reader = Omit<ReadOptions<Read>, 'onRead'>;

async function readNext(read: Read, reader: Reader): Promise<Read> {
  const { search, slices, slicesRead, cursor } = read;
  const slice = slices[slicesRead];
  if (slice === undefined) return read;
  const { lines, next, hint } = await readPage(search, { ...slice, rows: PAGE_ROWS, cursor }, reader);
  return {
    ...read,
    lines: mergeLines(read.lines, lines),
    slicesRead: next === undefined ? slicesRead + 1 : slicesRead,
    cursor: next,
    hint: hint ?? read.hint,
  };
}

const NARROW = 4;

/** Reads a line and a page after it: the service returns the newest first, so the range is narrowed until all fit. */
async function readAfter(read: Read, micros: number, reader: Reader): Promise<Read> {
  const { search } = read;
  const lengthMicros = Math.round(search.untilMs * 1_000) - micros;
  for (let length = lengthMicros; ; length = Math.max(1, Math.floor(length / NARROW))) {
    const bounds = { fromMs: micros / 1_000, untilMs: (micros + length) / 1_000 };
    const { lines, next } = await readPage(search, { ...bounds, rows: ROWS_MAX }, reader);
    if (next === undefined || length === 1) return { ...read, lines, hasNewer: length < lengthMicros };
  }
}

const CATCH_UP_MS = 60_000;

/** Reads the lines that came since one was the newest, at most `LINES_MAX`; without one, those of the last minute. @throws ApiError */
export async function readSince(
  search: Search,
  newest: Line | undefined,
  reader: Reader,
): Promise<readonly Line[]> {
  const nowMs = Date.now();
  const fromMs = newest === undefined ? nowMs - CATCH_UP_MS : Math.floor(newest.micros / 1000);
  const bounds = { fromMs, untilMs: nowMs + CATCH_UP_MS }; // clocks of senders may be ahead
  let lines: readonly Line[] = [];
  let cursor: string | undefined;
  do {
    const page = await readPage(search, { ...bounds, rows: ROWS_MAX, cursor }, reader);
    lines = mergeLines(lines, page.lines);
    cursor = page.lines.some(({ key }) => key === newest?.key) ? undefined : page.next;
  } while (cursor !== undefined && lines.length < LINES_MAX);
  return lines;
}

interface Page extends Slice {
  /** At most. */
  readonly rows: number;
  readonly cursor?: string | undefined;
}

/** Reads lines within bounds, newest first; `next` continues there. @throws ApiError */
async function readPage(search: Search, { rows, cursor = '', ...bounds }: Page, { client, signal }: Reader) {
  const raw = await client.callRaw(searchPath(search, bounds, { limit: String(rows), cursor }), { signal });
  const { rows: found, next } = toAnswer(raw);
  return { lines: found.map(toLine), next, hint: raw.headers.get('x-tailrace-hint') ?? undefined };
}
