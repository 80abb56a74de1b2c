import type { Client } from '../../../api/client.ts';
import { toAnswer } from '../../endpoint/answer.ts';
import { findNext, type Search, searchPath } from '../search/search.ts';
import { planSlices, type Slice } from '../search/slice.ts';
import { type At, isAt, parseAt } from './at.ts';
import { LINES_MAX, type Line, mergeLines, toLine } from './line.ts';
import { findWindow, type Newer, readNewer } from './newer.ts';

/** The lines of a search that were read so far. */
export interface Read {
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
  /** Of a read that begins at a line: what is left of the time after it. */
  readonly newer: Newer | undefined;
}

/** The first page is there soon. */
export const FIRST_ROWS = 200;
/** As many as the service allows. */
const NEXT_ROWS = 1_000;

/** @param at of a line within the range: it is read outwards from there, else from the newest line on */
export function createRead(search: Search, at: string): Read {
  const place = parseAt(at);
  const [from, until] = [search.fromMs * 1_000, search.untilMs * 1_000];
  const isWithin = place !== undefined && from <= place.micros && place.micros < until;
  const next = isWithin ? place.micros + 1 : until;
  return {
    ...{ search, lines: [], slicesRead: 0, cursor: undefined, limit: FIRST_ROWS, hint: undefined },
    slices: planSlices({ ...search, untilMs: next / 1_000 }),
    newer: isWithin ? { fromMicros: next, untilMicros: until, widthMicros: undefined } : undefined,
  };
}

/** Goes on with long pages: first with one that begins at the millisecond of the last line. */
export function lengthen(read: Read): Read {
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

interface ReadOptions {
  readonly client: Client;
  readonly signal: AbortSignal;
  readonly onRead: (read: Read) => void;
}

/** Reads at least `FIRST_ROWS` older lines, if there are as many. @throws ApiError */
export async function readOlder(from: Read, options: ReadOptions): Promise<void> {
  let read = from;
  do {
    read = await readPage(read, options);
    options.onRead(read);
  } while (hasOlder(read) && read.lines.length < Math.min(LINES_MAX, from.lines.length + FIRST_ROWS));
}

/**
 * Reads a line with those before and after it, which are shown together: the line is then in its place at once.
 *
 * @throws ApiError
 */
export async function readAround(from: Read, at: At, options: ReadOptions): Promise<void> {
  let read = from;
  const isEnough = ({ lines }: Read) => {
    // Lines of an earlier time are there: the line itself would be among them.
    const isBehind = lines.at(-1)?.micros !== at.micros || lines.some((line) => isAt(line, at));
    return lines.length >= LINES_MAX || (lines.length >= FIRST_ROWS && isBehind);
  };
  do {
    read = await readPage(read, options);
  } while (hasOlder(read) && !isEnough(read));
  const newer = read.newer && findWindow(read.newer, read.lines);
  options.onRead(await readLater({ ...read, newer }, options));
}

/** Reads at least `FIRST_ROWS` newer lines, if there are as many before the end of the range. @throws ApiError */
export async function readLater(read: Read, { client, signal }: Omit<ReadOptions, 'onRead'>): Promise<Read> {
  const { search, lines, newer } = read;
  if (newer === undefined) return read;
  const enough = Math.min(FIRST_ROWS, LINES_MAX - lines.length);
  const later = await readNewer(newer, enough, async (bounds, cursor) => {
    const path = searchPath(search, bounds, toQuery(NEXT_ROWS, cursor));
    const raw = await client.callRaw(path, { signal });
    return { lines: toAnswer(raw).rows.map(toLine), next: findNext(raw.headers) };
  });
  return { ...read, newer: later.left, lines: mergeLines(lines, later.lines) };
}

export function hasOlder({ slices, slicesRead }: Read): boolean {
  return slicesRead < slices.length;
}

export function hasNewer({ newer, lines }: Read): boolean {
  return newer !== undefined && newer.fromMicros < newer.untilMicros && lines.length < LINES_MAX;
}

/** @throws ApiError */
async function readPage(read: Read, { client, signal }: Omit<ReadOptions, 'onRead'>): Promise<Read> {
  const { search, slices, slicesRead, cursor, limit } = read;
  const path = searchPath(search, slices[slicesRead], toQuery(limit, cursor));
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

function toQuery(limit: number, cursor: string | undefined): Readonly<Record<string, string>> {
  return { limit: String(limit), ...(cursor !== undefined && { cursor }) };
}
