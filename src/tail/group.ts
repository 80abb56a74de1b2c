import type { Pages } from '../definitions/pages.ts';
import { isManaged } from '../definitions/source.ts';
import type { WriteMarks, WriteVersion } from '../engine/write-marks.ts';
import { MICROS_PER_MS, type Micros, parseInstant } from '../lib/instant.ts';
import type { Cursors } from '../query/cursor.ts';
import { since } from '../query/page.ts';
import { comparePositions, type Position } from '../query/position.ts';
import type { Question } from '../query/question.ts';
import type { Run } from '../query/run.ts';
import { rowEvent } from './event.ts';
import { getPages, type How, type Reading, readBack, readFirst, type TailRow } from './read-back.ts';

export interface GroupParts {
  readonly run: Run;
  readonly writes: WriteMarks;
  /** See `Engine.seesEveryWrite`. */
  readonly seesEveryWrite: boolean;
  readonly cursors: Pick<Cursors, 'createWriter'>;
  /** ms since the epoch. */
  readonly now: () => number;
}

/** What all tails of one question share: the rows that were sent last, and one query for all. */
export type Group = ReturnType<typeof createGroup>;

/** Of a tick: `row` events in the order of the rows, or that rows were lost. */
export type News = Buffer | 'cut' | undefined;

/** What a group follows. */
export interface Followed {
  /** Of the first page, in NDJSON. */
  readonly question: Question;
  /** How far before the present a tick looks for rows; `undefined`: as far as the question says. */
  readonly window?: Micros | undefined;
}

// Writes that the service does not see cannot be waited for, so the engine is asked every second tick.
const UNSEEN_TICKS = 2;

/**
 * Follows a question. A tick reads the first page, and further back as long as a page ends with a new row; the rows that the tick
 * before did not read are new. So a row that comes late, with an older time than those before it, is sent if it belongs among the
 * rows of the first page, and its cursor is that of the newest row so far: going on from there repeats nothing.
 *
 * @param nextLane the lane of its next queries: each tail takes its turn, so that no key holds up the tails of others
 */
export function createGroup(parts: GroupParts, followed: Followed, nextLane: () => string) {
  const { run, writes, cursors, now } = parts;
  const { question } = followed;
  const pages = getPages(question);
  const cursorOf = cursors.createWriter(question.endpoint, question.values);
  const closing = new AbortController();
  const how = () => ({ signal: closing.signal, lane: nextLane() });
  const { onJoin, join } = createJoins();
  const seesEveryWrite = parts.seesEveryWrite && pages.sources.every(isManaged);
  let version: WriteVersion = -1;
  let ticks = 0;
  let reading: Read = { rows: [], end: 'whole', start: undefined };
  /** Where the rows that were read end; `undefined` as long as there were none. */
  let mark: Position | undefined;

  const isNewer = (a: Position, b: Position) => comparePositions(pages, a, b) < 0;

  const advance = createAdvance(isNewer, now);

  function take(next: Read): void {
    for (const { position } of next.rows) mark = advance(mark, position);
    reading = cutToPage(next, pages);
  }

  function encode(rows: readonly TailRow[], from: Position | undefined): Buffer {
    let cursor = from;
    const pieces = rows.flatMap(({ position, row }) => {
      cursor = advance(cursor, position);
      return rowEvent(cursorOf(cursor ?? position), row);
    });
    return Buffer.concat(pieces);
  }

  function hasChanged(): boolean {
    if (!seesEveryWrite) return ++ticks % UNSEEN_TICKS === 0;
    return pages.sources.some(({ table }) => writes.hasChanged(table, version));
  }

  return {
    question,
    pages,
    encode,
    /** Reads the newest rows, which are not sent. @throws what the query fails with */
    async start(): Promise<void> {
      const { version: before } = writes;
      take(await readNewest(followed, now(), (asked) => readFirst(run, asked, { ...how(), onJoin })));
      version = before;
    },
    /** Another lane in which `start` may wait: no key waits for the turn of the one that came first. */
    join,
    /** The rows that came since the last tick; `undefined` if nothing was written. @throws what the query fails with */
    async tick(): Promise<News> {
      if (!hasChanged()) return undefined;
      const { version: before } = writes;
      const floor = floorOf(reading);
      const known = new Set(reading.rows.map(({ name }) => name));
      const isNew = ({ name, position }: TailRow) =>
        !known.has(name) && (floor === undefined || isNewer(position, floor));
      const isEnough = (row: TailRow) => !isNew(row);
      const next = await readNewest(followed, now(), (asked) => readBack(run, asked, { ...how(), isEnough }));
      version = before;
      const rows = next.rows.filter(isNew).reverse();
      const from = mark;
      take(next);
      if (next.end === 'cut') return 'cut';
      return rows.length === 0 ? undefined : encode(rows, from);
    },
    /** Rows newer than a position, oldest first: those that were read last, and a reading of older ones if there may be any. */
    findSince(position: Position): { readonly rows: readonly TailRow[]; readonly olderThan?: Position } {
      const rows = reading.rows.filter((row) => isNewer(row.position, position)).reverse();
      const floor = floorOf(reading);
      return floor !== undefined && isNewer(floor, position) ? { rows, olderThan: floor } : { rows };
    },
    /** Rows between two positions, oldest first; `undefined` if there are too many. @throws what the query fails with */
    async readBetween(from: Position, until: Position, { signal, ...forWhom }: BoundedHow) {
      const options = { ...forWhom, signal: AbortSignal.any([signal, closing.signal]), from };
      const isEnough = (row: TailRow) => !isNewer(row.position, until);
      const { rows, end } = await readBack(run, askSince(followed, until), { ...options, isEnough });
      return end === 'cut' ? undefined : rows.filter((row) => !isEnough(row)).reverse();
    },
    /** Stops its queries. */
    close: () => closing.abort(),
  };
}

/** A row that is ahead of the clock moves no mark: rows that come after it would be left out by a tail that goes on there. */
function createAdvance(isNewer: (a: Position, b: Position) => boolean, now: () => number) {
  return (from: Position | undefined, to: Position): Position | undefined => {
    if (timeOf(to) > now() * MICROS_PER_MS) return from;
    return from === undefined || isNewer(to, from) ? to : from;
  };
}

type BoundedHow = How & { readonly signal: AbortSignal };

function createJoins() {
  const listeners: ((lane: string) => void)[] = [];
  return {
    onJoin: (listener: (lane: string) => void) => void listeners.push(listener),
    join(lane: string): void {
      for (const listener of listeners) listener(lane);
    },
  };
}

interface Read extends Reading {
  /** No row after it was looked for. */
  readonly start: Position | undefined;
}

/** Reads the rows of the window before the present. */
async function readNewest(
  { question, window }: Followed,
  nowMs: number,
  read: (asked: Question) => Promise<Reading>,
): Promise<Read> {
  if (window === undefined) return { ...(await read(question)), start: undefined };
  const from = nowMs * MICROS_PER_MS - window;
  const start = getPages(question).by.map((_, i) => (i === 0 ? String(from) : '')); // before all rows of earlier instants
  return { ...(await read(since(question, from))), start };
}

/** The question without rows that come long after a position: the window does not bound what was missed. */
function askSince({ question, window }: Followed, position: Position): Question {
  return window === undefined ? question : since(question, timeOf(position));
}

/** Those of a burst would stay in memory until rows are stored again. */
function cutToPage({ rows, end, start }: Read, { size }: Pages): Read {
  return rows.length <= size ? { rows, end, start } : { rows: rows.slice(0, size), end: 'met', start };
}

/** Rows beyond the reading before may be old ones that came into view, such as after a deletion. */
function floorOf({ rows, end, start }: Read): Position | undefined {
  return end === 'whole' ? start : rows.at(-1)?.position;
}

/** The time of a row, which is the first column (definitions/pages.ts); one that is not understood is not ahead. */
function timeOf([text = '']: Position): Micros {
  return /^-?\d+$/.test(text) ? Number(text) : (parseInstant(text) ?? 0);
}
