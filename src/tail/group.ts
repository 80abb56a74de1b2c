import { isManaged } from '../definitions/source.ts';
import type { WriteMarks, WriteVersion } from '../engine/write-marks.ts';
import type { Cursors } from '../query/cursor.ts';
import { comparePositions, type Position } from '../query/position.ts';
import type { Question } from '../query/question.ts';
import type { Run } from '../query/run.ts';
import { rowEvent } from './event.ts';
import { getPages, type Reading, readBack, readFirst, type TailRow } from './read-back.ts';

export interface GroupParts {
  readonly run: Run;
  readonly writes: WriteMarks;
  /** See `Engine.seesEveryWrite`. */
  readonly seesEveryWrite: boolean;
  readonly cursors: Pick<Cursors, 'createWriter'>;
}

/** What all tails of one question share: the rows that were sent last, and one query for all. */
export type Group = ReturnType<typeof createGroup>;

/** Of a tick: `row` events in the order of the rows, or that rows were lost. */
export type News = Buffer | 'cut' | undefined;

// Writes that the service does not see cannot be waited for, so the engine is asked every second tick.
const UNSEEN_TICKS = 2;

/**
 * Follows a question. A tick reads the first page, and further back as long as all rows of a page are new; the rows that the tick
 * before did not read are new. So a row that comes late, with an older time than those before it, is sent if it belongs among the
 * rows of the first page, and its cursor is that of the newest row so far: going on from there repeats nothing.
 *
 * @param question of the first page, in NDJSON
 */
export function createGroup(parts: GroupParts, question: Question, lane: string | undefined) {
  const { run, writes, cursors } = parts;
  const { endpoint, values } = question;
  const pages = getPages(question);
  const cursorOf = cursors.createWriter(endpoint, values);
  const closing = new AbortController();
  const how = { signal: closing.signal, lane };
  const seesEveryWrite = parts.seesEveryWrite && pages.sources.every(isManaged);
  let version: WriteVersion = -1;
  let ticks = 0;
  let reading: Reading = { rows: [], end: 'whole' };
  let known: ReadonlySet<string> = new Set();
  /** The newest position that was read; `undefined` as long as there were no rows. */
  let mark: Position | undefined;

  const isNewer = (a: Position, b: Position) => comparePositions(pages, a, b) < 0;

  /** Rows beyond the reading before may be old ones that came into view, such as after a deletion. */
  function floorOf({ rows, end }: Reading): Position | undefined {
    return end === 'whole' ? undefined : rows.at(-1)?.position;
  }

  function take(next: Reading): void {
    reading = next;
    known = new Set(next.rows.map(({ name }) => name));
    const newest = next.rows[0]?.position;
    if (newest !== undefined && (mark === undefined || isNewer(newest, mark))) mark = newest;
  }

  function encode(rows: readonly TailRow[], from: Position | undefined): Buffer {
    let newest = from;
    const pieces = rows.flatMap(({ position, row }) => {
      if (newest === undefined || isNewer(position, newest)) newest = position;
      return rowEvent(cursorOf(newest), row);
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
      const first = await readFirst(run, question, how);
      version = before;
      take(first);
    },
    /** The rows that came since the last tick; `undefined` if nothing was written. @throws what the query fails with */
    async tick(): Promise<News> {
      if (!hasChanged()) return undefined;
      const { version: before } = writes;
      const next = await readBack(run, question, { ...how, until: mark });
      version = before;
      const floor = floorOf(reading);
      const isNew = ({ name, position }: TailRow) =>
        !known.has(name) && (floor === undefined || isNewer(position, floor));
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
    async readBetween(from: Position, until: Position): Promise<readonly TailRow[] | undefined> {
      const { rows, end } = await readBack(run, question, { ...how, from, until });
      return end === 'cut' ? undefined : rows.filter((row) => isNewer(row.position, until)).reverse();
    },
    /** Stops its queries. */
    close: () => closing.abort(),
  };
}
