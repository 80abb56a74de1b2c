import { isManaged } from '../definitions/source.ts';
import type { WriteMarks, WriteVersion } from '../engine/write-marks.ts';
import { MICROS_PER_MS } from '../lib/instant.ts';
import type { Cursors } from '../query/cursor.ts';
import { comparePositions, type Position, withSent } from '../query/position.ts';
import { since } from '../query/question.ts';
import type { Run } from '../query/run.ts';
import type { EndReason, Member, TailRequest } from './member.ts';
import {
  createMarks,
  createNews,
  getPages,
  type PageOptions,
  type ReadBackOptions,
  type RowsRead,
  readBack,
  type TailRow,
  timeOf,
} from './read-back.ts';

export interface GroupParts {
  readonly run: Run;
  readonly writes: WriteMarks;
  /** See `Engine.seesEveryWrite`. */
  readonly seesEveryWrite: boolean;
  readonly cursors: Pick<Cursors, 'createWriter'>;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly onFailure: (error: unknown, endpoint: string) => void;
}

/** The tails of one question: the rows that were sent last, and one query for all. */
export type Group = ReturnType<typeof createGroup>;

// The service cannot wait for writes that it does not see, so it queries the engine every second tick.
const UNSEEN_TICKS = 2;
// Ten seconds, in which the engine restarts or a server becomes available again.
const FAILURES_MAX = 40;

/**
 * Follows a question. A tick reads the first page, and further back as long as a page ends with a new row; rows that the
 * tick before did not read are new. So a late row is sent if it belongs to the first page, and its cursor is that of the
 * newest row so far: continuing there repeats no row.
 *
 * @param first the first request to follow it
 */
export function createGroup(parts: GroupParts, first: TailRequest) {
  const { run, writes, cursors, now, onFailure } = parts;
  const { question, window } = first;
  const members = new Set<Member>();
  const pages = getPages(question);
  const marks = createMarks(pages, now, cursors.createWriter(question.endpoint, question.values));
  const closing = new AbortController();
  const joins: ((lane: string) => void)[] = [];
  const seesEveryWrite = parts.seesEveryWrite && pages.sources.every(isManaged);
  let version: WriteVersion = -1;
  let ticks = 0;
  let turns = 0;
  let isBusy = false;
  let failures = 0;
  let reading: Read = { rows: [], end: 'whole', start: undefined };
  /** The end of the rows that were read; `undefined` before the first row. */
  let mark: Position | undefined;

  const isNewer = (a: Position, b: Position) => comparePositions(pages, a, b) < 0;

  /** Returns the lane of the next query: each tail takes its turn, so that no key delays the tails of others. */
  const nextLane = () => ([...members][turns++ % members.size]?.request ?? first).lane;

  /** Reads the rows of the window before the present. @throws the failure of the query */
  async function readNewest(options: Pick<ReadBackOptions, 'isEnough' | 'onJoin'>): Promise<Read> {
    const { version: before } = writes;
    const from = window === undefined ? undefined : now() * MICROS_PER_MS - window;
    const asked = from === undefined ? question : since(question, from);
    const read = await readBack(run, asked, { signal: closing.signal, lane: nextLane(), ...options });
    version = before;
    // Before all rows of earlier instants.
    const start = from === undefined ? undefined : pages.by.map((_, i) => (i === 0 ? String(from) : ''));
    return { ...read, start };
  }

  function take(next: Read): void {
    const { size } = pages;
    mark = marks.later(mark, next.rows);
    // Rows beyond the first page are dropped: those of a burst would stay in memory until rows are stored again.
    reading = next.rows.length <= size ? next : { ...next, rows: next.rows.slice(0, size), end: 'met' };
  }

  function hasChanged(): boolean {
    if (!seesEveryWrite) return ++ticks % UNSEEN_TICKS === 0;
    return pages.sources.some(({ table }) => writes.hasChanged(table, version));
  }

  /** Sends the rows that came since the last tick, in their order. @throws the failure of the query */
  async function sendNews(): Promise<void> {
    if (!hasChanged()) return;
    const floor = floorOf(reading);
    const isAbove = ({ position }: TailRow) => floor === undefined || isNewer(position, floor);
    const news = createNews(reading.rows);
    const isEnough = (row: TailRow, rows: readonly TailRow[]) => !isAbove(row) || !news.endWith(rows);
    const next = await readNewest({ isEnough });
    const rows = news.find(next.rows.filter(isAbove)).reverse();
    const events = rows.length === 0 ? undefined : marks.encode(rows, mark).events;
    take(next);
    if (next.end === 'cut') end('too_many_rows');
    else if (events !== undefined) for (const member of [...members]) member.send(events);
  }

  /** Ends all of its tails. */
  function end(reason: EndReason): void {
    for (const member of [...members]) member.end(reason);
  }

  const onJoin = (listener: (lane: string) => void) => void joins.push(listener);
  /** The newest rows were read, which are not sent. Rejects with the failure of the query. */
  const ready = readNewest({ isEnough: () => true, onJoin }).then(take);

  return {
    question,
    pages,
    members,
    encode: marks.encode,
    ready,
    /** Adds a lane in which the first query may wait, so that no key waits for the turn of the first one. */
    join(lane: string): void {
      for (const listener of joins) listener(lane);
    },
    async tick(): Promise<void> {
      if (isBusy) return;
      isBusy = true;
      try {
        await ready;
        await sendNews();
        failures = 0;
      } catch (error) {
        if (members.size === 0) return; // the last one has left
        onFailure(error, question.endpoint.name);
        if (++failures >= FAILURES_MAX) end('unavailable');
      } finally {
        isBusy = false;
      }
    },
    /** Returns the last read rows of a position and newer ones, oldest first, and where a page of older ones continues. */
    findSince(position: Position): { readonly rows: readonly TailRow[]; readonly olderThan?: Position } {
      const rows = reading.rows.filter((row) => !isNewer(position, row.position)).reverse();
      const floor = floorOf(reading);
      if (floor === undefined || isNewer(position, floor)) return { rows };
      const isFloor = (row: TailRow) => comparePositions(pages, row.position, floor) === 0;
      return { rows, olderThan: withSent(pages, floor, rows.filter(isFloor).length) };
    },
    /** Reads the same from the cursor of a page on; `undefined` if there are too many. @throws the failure of the query */
    async readBetween(from: Position, until: Position, { signal, ...forWhom }: PageOptions) {
      const options = { ...forWhom, signal: AbortSignal.any([signal, closing.signal]), from };
      const isEnough = (row: TailRow) => isNewer(until, row.position);
      // Without rows long after the position: the window does not bound missed rows.
      const asked = window === undefined ? question : since(question, timeOf(until));
      const { rows, end } = await readBack(run, asked, { ...options, isEnough });
      return end === 'cut' ? undefined : rows.filter((row) => !isEnough(row)).reverse();
    },
    /** Stops its queries. */
    close: () => closing.abort(),
  };
}

interface Read extends RowsRead {
  /** Rows after it were not read. */
  readonly start: Position | undefined;
}

/** Returns the oldest position of a reading. Older rows are not new: they may come into view, such as after a deletion. */
function floorOf({ rows, end, start }: Read): Position | undefined {
  return end === 'whole' ? start : rows.at(-1)?.position;
}
