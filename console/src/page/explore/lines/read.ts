import { type At, isAt, LINES_MAX, type Line, mergeLines, parseAt, type Slice } from './line.ts';

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
  return {
    ...{ source, lines: [], slicesRead: 0, cursor: undefined, limit: FIRST_ROWS, hint: undefined },
    slices: source.planSlices(next / 1_000),
    newer: isWithin ? { fromMicros: next, untilMicros: until, widthMicros: undefined } : undefined,
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

export function hasNewer({ newer, lines }: Read): boolean {
  return newer !== undefined && newer.fromMicros < newer.untilMicros && lines.length < LINES_MAX;
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

/** The time after the lines that were read, up to the end of the range. Microseconds since the epoch, the end exclusive. */
interface Newer {
  readonly fromMicros: number;
  readonly untilMicros: number;
  /** Width of the next window; undefined: not known yet. */
  readonly widthMicros: number | undefined;
}

type ReadWindow = (bounds: Slice, cursor: string | undefined) => Promise<LinePage>;

const FIRST_WIDTH_MICROS = 1_000_000;
const WIDEN = 4;

/** The first window is as long as the older lines that were read. */
function findWindow(newer: Newer, lines: readonly Line[]): Newer {
  const lengthMicros = (lines[0]?.micros ?? 0) - (lines.at(-1)?.micros ?? 0);
  return { ...newer, widthMicros: lengthMicros > 0 ? lengthMicros : FIRST_WIDTH_MICROS };
}

/**
 * Reads on towards newer lines. The service returns the newest lines of a range first, so this reads short windows: one with more than
 * a page is made shorter, down to a microsecond, which is read page by page; after one with few lines the next is longer.
 *
 * @param enough reads until there are as many lines, or the range ends
 */
async function readNewer(
  newer: Newer,
  enough: number,
  readWindow: ReadWindow,
): Promise<{ readonly lines: readonly Line[]; readonly left: Newer }> {
  const { untilMicros } = newer;
  const lines: Line[] = [];
  let [from, width] = [newer.fromMicros, newer.widthMicros ?? FIRST_WIDTH_MICROS];
  while (from < untilMicros && lines.length < enough) {
    const until = Math.min(untilMicros, from + width);
    const bounds = { fromMs: from / 1_000, untilMs: until / 1_000 };
    let page = await readWindow(bounds, undefined);
    if (page.next !== undefined && until - from > 1) {
      width = Math.max(1, Math.floor((until - from) / WIDEN));
      continue;
    }
    lines.push(...page.lines);
    while (page.next !== undefined && lines.length < PAGED_MAX) {
      page = await readWindow(bounds, page.next);
      lines.push(...page.lines);
    }
    from = until;
    if (lines.length < enough) width *= WIDEN;
  }
  return { lines, left: { fromMicros: from, untilMicros, widthMicros: width } };
}

/** Lines of one microsecond: more than a list shows would not be read to their end. */
const PAGED_MAX = 10_000;
