import { type At, LINES_MAX, type Line, mergeLines, parseAt, type Slice } from './line.ts';

export interface LinePage {
  /** Newest first. */
  readonly lines: readonly Line[];
  /** Continues within the bounds; undefined at their end. */
  readonly next: string | undefined;
  /** What may be wrong with a search that finds nothing. */
  readonly hint?: string | undefined;
}

interface PageOptions {
  /** At most. */
  readonly rows: number;
  readonly cursor: string | undefined;
  readonly signal: AbortSignal;
}

/** The search that a list of lines reads. */
export interface LineSource extends Slice {
  /** Equal for sources that differ only in time: lines of the one stay until those of the other are there. */
  readonly events: string;
  readonly tail: LineTail;
  /** The range up to an instant in parts that are read one after the other, newest first. */
  planSlices(untilMs: number): readonly Slice[];
  /** Reads a page within bounds. @throws ApiError */
  readPage(bounds: Slice, options: PageOptions): Promise<LinePage>;
}

export interface LineTail {
  /** Path of a live tail (docs/pages.md). */
  readonly path: string;
  /** The bounds of lines that have come since one was the newest; without one, of those to begin with. */
  since(newest: Line | undefined): Slice;
}

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
  /** The line from which it is read. */
  readonly at: At | undefined;
  /** Whether there may be newer lines in the range than those read. */
  readonly hasNewer: boolean;
}

/** The first page is there soon. */
const FIRST_ROWS = 200;
/** As many as the service allows. */
const NEXT_ROWS = 1_000;

/** @param at of a line within the range: it is read from there on, else from the newest line on */
export function createRead(source: LineSource, at: string): Read {
  const place = parseAt(at);
  const isWithin =
    place !== undefined &&
    source.fromMs * 1_000 <= place.micros &&
    place.micros < Math.round(source.untilMs * 1_000);
  return {
    ...{ source, lines: [], slicesRead: 0, cursor: undefined, limit: FIRST_ROWS, hint: undefined },
    slices: source.planSlices(isWithin ? place.micros / 1_000 : source.untilMs),
    ...{ at: isWithin ? place : undefined, hasNewer: false },
  };
}

/** Continues with long pages: first with one that begins at the millisecond of the last line. */
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
  readonly signal: AbortSignal;
  readonly onRead: (read: Read) => void;
}

/** Reads at least `FIRST_ROWS` older lines, if there are as many; first the line to begin with, and those after it. @throws ApiError */
export async function readOlder(from: Read, options: ReadOptions): Promise<void> {
  const { at, lines } = from;
  let read = at === undefined || lines.length > 0 ? from : await readAfter(from, at, options);
  do {
    read = await readPage(read, options);
    options.onRead(read);
  } while (hasOlder(read) && read.lines.length < Math.min(LINES_MAX, lines.length + FIRST_ROWS));
}

const NARROW = 4;

/**
 * Reads a line and those after it, as far as they are one page: the service returns the newest lines of a range first, so this reads
 * shorter and shorter ranges, down to a microsecond.
 */
async function readAfter(read: Read, { micros }: At, { signal }: Pick<ReadOptions, 'signal'>): Promise<Read> {
  const { source } = read;
  const lengthMicros = Math.round(source.untilMs * 1_000) - micros;
  for (let length = lengthMicros; ; length = Math.max(1, Math.floor(length / NARROW))) {
    const bounds = { fromMs: micros / 1_000, untilMs: (micros + length) / 1_000 };
    const { lines, next } = await source.readPage(bounds, { rows: NEXT_ROWS, cursor: undefined, signal });
    if (next === undefined || length === 1) return { ...read, lines, hasNewer: length < lengthMicros };
  }
}

/** Reads the lines since one was the newest, at most `LINES_MAX`. @throws ApiError */
export async function readSince(
  { tail, readPage: read }: LineSource,
  newest: Line | undefined,
  signal: AbortSignal,
): Promise<readonly Line[]> {
  const bounds = tail.since(newest);
  let lines: readonly Line[] = [];
  let cursor: string | undefined;
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

/** @throws ApiError */
async function readPage(read: Read, { signal }: Pick<ReadOptions, 'signal'>): Promise<Read> {
  const { source, slices, slicesRead, cursor, limit: rows } = read;
  const slice = slices[slicesRead];
  if (slice === undefined) return read;
  const { lines, next, hint } = await source.readPage(slice, { rows, cursor, signal });
  return {
    ...read,
    lines: mergeLines(read.lines, lines),
    slicesRead: next === undefined ? read.slicesRead + 1 : read.slicesRead,
    cursor: next,
    hint: hint ?? read.hint,
  };
}
