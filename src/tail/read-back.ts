import type { Pages } from '../definitions/pages.ts';
import { MICROS_PER_MS, type Micros, parseInstant } from '../lib/instant.ts';
import { splitLines } from '../query/format.ts';
import {
  comparePositions,
  type Position,
  readPosition,
  readTailSent,
  withTailSent,
} from '../query/position.ts';
import { at, type Question } from '../query/question.ts';
import type { Run, RunOptions } from '../query/run.ts';
import { rowEvent } from './member.ts';

export interface TailRow {
  readonly position: Position;
  /** The position as one text. */
  readonly name: string;
  /** JSON on one line. */
  readonly row: Buffer;
}

interface ReadBackOptions extends Pick<RunOptions, 'lane' | 'onJoin'> {
  readonly signal: AbortSignal;
  /** The cursor before the rows; from the newest row if left out. */
  readonly from?: Position | undefined;
  /** Whether a page that ends with this row is the last one to be read. @param rows that were read so far */
  readonly isEnough: (row: TailRow, rows: readonly TailRow[]) => boolean;
}

/** Beyond either the reading is cut: rows are held in memory until the oldest is sent. */
const READ_ROWS_MAX = 10_000;
const READ_MIB_MAX = 8;
export const READ_MAX = `${READ_ROWS_MAX} rows or ${READ_MIB_MAX} MiB`;

/** Returns the pages of a question that is tailed. */
export function getPages({ endpoint }: Question): Pages {
  if (endpoint.pages !== undefined) return endpoint.pages;
  throw new Error(`${endpoint.name} has no pages`); // serve/resolve.ts rejects such endpoints
}

/**
 * Reads pages backwards in time.
 * @returns rows, newest first. `whole`: there are no older ones. `met`: `isEnough`. `cut`: a bound was reached before
 * @throws the failure of a query
 */
export async function readBack(
  run: Run,
  question: Question,
  { from, isEnough, ...options }: ReadBackOptions,
): Promise<{ readonly rows: readonly TailRow[]; readonly end: 'whole' | 'met' | 'cut' }> {
  const pages = getPages(question);
  const rows: TailRow[] = [];
  let bytes = 0;
  for (let next = from; ; ) {
    const page = await run(next === undefined ? question : at(question, next), options);
    const texts = splitLines(page.body);
    for (const row of texts) {
      const position = readPosition(pages, row);
      rows.push({ position, name: JSON.stringify(position), row });
    }
    bytes += page.body.length;
    if (page.last === undefined) return { rows, end: 'whole' };
    const last = texts.length === 0 ? undefined : rows.at(-1);
    if (last === undefined || isEnough(last, rows)) return { rows, end: 'met' };
    if (rows.length >= READ_ROWS_MAX || bytes >= READ_MIB_MAX * 1024 * 1024) return { rows, end: 'cut' };
    next = page.last;
  }
}

/**
 * Distinguishes new rows from those of the previous reading. Rows with the same position are distinguished by their
 * number first, then by their bytes: a query may write the same row differently each time.
 */
export function createNews(known: readonly TailRow[]) {
  const knownByName = Map.groupBy(known, ({ name }) => name);
  const countKnown = (name: string) => knownByName.get(name)?.length ?? 0;
  return {
    /** Whether there are new rows among those of the last position. @param rows in order */
    endWith(rows: readonly TailRow[]): boolean {
      const name = rows.at(-1)?.name;
      if (name === undefined) return false;
      const before = rows.findLastIndex((row) => row.name !== name) + 1;
      return rows.length - before > countKnown(name);
    },
    /** Returns the new rows, in the order of `rows`. */
    find(rows: readonly TailRow[]): TailRow[] {
      const found = new Set<TailRow>();
      for (const [name, same] of Map.groupBy(rows, (row) => row.name)) {
        const count = same.length - countKnown(name);
        for (const row of sortKnownLast(same, knownByName.get(name) ?? []).slice(0, Math.max(count, 0)))
          found.add(row);
      }
      return rows.filter((row) => found.has(row));
    },
  };
}

function sortKnownLast(rows: readonly TailRow[], known: readonly TailRow[]): readonly TailRow[] {
  if (known.length === 0) return rows;
  const texts = new Map<string, number>();
  for (const { row } of known) texts.set(row.toString(), (texts.get(row.toString()) ?? 0) + 1);
  const [fresh, old]: [TailRow[], TailRow[]] = [[], []];
  for (const one of rows) {
    const text = one.row.toString();
    const left = texts.get(text) ?? 0;
    if (left > 0) texts.set(text, left - 1);
    (left > 0 ? old : fresh).push(one);
  }
  return [...fresh, ...old];
}

/** Marks: the cursors of events. Each is the newest position so far, and how many rows of this position there were. */
export function createMarks(pages: Pages, now: () => number, cursorOf: (mark: Position) => string) {
  /** A row that is ahead of the clock does not move the mark: a tail that continues there would miss later rows. */
  function advance(from: Position | undefined, to: Position): Position | undefined {
    if (timeOf(to) > now() * MICROS_PER_MS) return from;
    const order = from === undefined ? -1 : comparePositions(pages, to, from);
    if (order < 0) return withTailSent(pages, to, 1);
    const sent = from && readTailSent(pages, from);
    return order > 0 || sent === undefined ? from : withTailSent(pages, to, sent + 1);
  }

  return {
    /** Returns the events of rows, and the mark of the last one. @param from the mark before the rows */
    encode(rows: readonly TailRow[], from: Position | undefined) {
      let mark = from;
      const pieces = rows.flatMap(({ position, row }) => {
        mark = advance(mark, position);
        return rowEvent(cursorOf(mark ?? position), row);
      });
      return { events: Buffer.concat(pieces), mark };
    },
    /** Returns the mark of a reading, or the previous one if that is newer or counts more rows. */
    later(before: Position | undefined, rows: readonly TailRow[]): Position | undefined {
      let mark: Position | undefined;
      for (const { position } of rows) mark = advance(mark, position);
      if (before === undefined || mark === undefined) return before ?? mark;
      const order = comparePositions(pages, before, mark);
      if (order !== 0) return order < 0 ? before : mark;
      return (readTailSent(pages, before) ?? 0) >= (readTailSent(pages, mark) ?? 0) ? before : mark;
    },
  };
}

/** Returns the time of a row, its first column (definitions/pages.ts); an unreadable time is not ahead of the clock. */
export function timeOf([text = '']: Position): Micros {
  return /^-?\d+$/.test(text) ? Number(text) : (parseInstant(text) ?? 0);
}
