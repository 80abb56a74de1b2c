import { type At, isAt, parseAt } from './at.ts';
import { LINES_MAX, type Line, mergeLines } from './line.ts';
import { findWindow, type Newer, readNewer } from './newer.ts';
import type { LinePage, LineSource, Slice } from './source.ts';

/** The lines of a source that were read so far. */
export interface Read {
  readonly source: LineSource;
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
  /** What is left of the time after the line at which the read began. */
  readonly newer: Newer | undefined;
}

/** The first page is there soon. */
const FIRST_ROWS = 200;
/** As many as the service allows. */
const NEXT_ROWS = 1_000;

/** @param at of a line within the range: it is read outwards from there, else from the newest line on */
export function createRead(source: LineSource, at: string): Read {
  const place = parseAt(at);
  const [from, until] = [source.fromMs * 1_000, source.untilMs * 1_000];
  const isWithin = place !== undefined && from <= place.micros && place.micros < until;
  const next = isWithin ? place.micros + 1 : until;
  const read = {
    ...{ source, lines: [], slicesRead: 0, cursor: undefined, limit: FIRST_ROWS, hint: undefined },
    slices: source.planSlices(next / 1_000),
    newer: undefined,
  };
  // Without an end there would always be later time to read.
  if (isWithin && Number.isFinite(until)) {
    return { ...read, newer: { fromMicros: next, untilMicros: until, widthMicros: undefined } };
  }
  return source.first === undefined ? read : withPage(read, source.first);
}

/** Whether nothing has to be read before the lines are shown. */
export function isBegun({ source, newer }: Read): boolean {
  return source.first !== undefined && newer === undefined;
}

/** Continues with long pages: first with one that begins at the millisecond of the last line. */
export function lengthen(read: Read): Read {
  const { source, lines, slices, slicesRead, limit } = read;
  const [last, slice] = [lines.at(-1), slices[slicesRead]];
  if (!source.hasLongPages || limit === NEXT_ROWS || last === undefined || slice === undefined) return read;
  const untilMs = Math.min(slice.untilMs, Math.floor(last.micros / 1000) + 1);
  return {
    ...read,
    slices: slices.with(slicesRead, { ...slice, untilMs }),
    cursor: undefined,
    limit: NEXT_ROWS,
  };
}

interface ReadOptions {
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
export async function readLater(read: Read, { signal }: Pick<ReadOptions, 'signal'>): Promise<Read> {
  const { source, lines, newer } = read;
  if (newer === undefined) return read;
  const enough = Math.min(FIRST_ROWS, LINES_MAX - lines.length);
  const later = await readNewer(newer, enough, (bounds, cursor) =>
    source.readPage(bounds, { rows: NEXT_ROWS, cursor, signal }),
  );
  return { ...read, newer: later.left, lines: mergeLines(lines, later.lines) };
}

/** Reads the lines since one was the newest, at most `LINES_MAX`. @throws ApiError */
export async function readSince(
  { tail, readPage: read }: LineSource,
  newest: Line | undefined,
  signal: AbortSignal,
): Promise<readonly Line[]> {
  const bounds = tail?.since(newest);
  let lines: readonly Line[] = [];
  let cursor: string | undefined;
  if (bounds === undefined) return lines;
  do {
    const page = await read(bounds, { rows: NEXT_ROWS, cursor, signal });
    lines = mergeLines(lines, page.lines);
    cursor = page.lines.some(({ key }) => key === newest?.key) ? undefined : page.next;
  } while (cursor !== undefined && lines.length < LINES_MAX);
  return lines;
}

export function hasOlder({ slices, slicesRead }: Read): boolean {
  return slicesRead < slices.length;
}

export function hasNewer({ newer, lines }: Read): boolean {
  return newer !== undefined && newer.fromMicros < newer.untilMicros && lines.length < LINES_MAX;
}

/** @throws ApiError */
async function readPage(read: Read, { signal }: Pick<ReadOptions, 'signal'>): Promise<Read> {
  const { source, slices, slicesRead, cursor, limit: rows } = read;
  const slice = slices[slicesRead];
  return slice === undefined ? read : withPage(read, await source.readPage(slice, { rows, cursor, signal }));
}

function withPage(read: Read, { lines, next, hint }: LinePage): Read {
  return {
    ...read,
    lines: mergeLines(read.lines, lines),
    slicesRead: next === undefined ? read.slicesRead + 1 : read.slicesRead,
    cursor: next,
    hint: hint ?? read.hint,
  };
}
