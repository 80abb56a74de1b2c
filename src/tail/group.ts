import { CURSOR_PARAMETER } from '../definitions/pages.ts';
import { isManaged } from '../definitions/source.ts';
import type { WriteMarks, WriteVersion } from '../engine/write-marks.ts';
import { MICROS_PER_MS } from '../lib/instant.ts';
import { createSingleFlight, type Flight } from '../lib/single-flight.ts';
import type { Cursors } from '../query/cursor.ts';
import { rejectParameter } from '../query/parameters.ts';
import { comparePositions, type Position, readTailSent, withSent } from '../query/position.ts';
import { since } from '../query/question.ts';
import type { Run, RunOptions } from '../query/run.ts';
import type { EndReason, Member, TailRequest } from './member.ts';
import { createMarks, createNews, getPages, READ_MAX, readBack, type TailRow, timeOf } from './read-back.ts';

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
// Earlier rows that are sent at a time.
const ROWS_AT_ONCE = 100;
const TOO_FAR =
  `is more than ${READ_MAX} back, more than a live tail sends; read them page by page, or ` +
  'begin without it';

/**
 * Follows a question. A tick reads the first page, and further back as long as a page ends with a new row; rows that the
 * tick before did not read are new. So a late row is sent if it belongs to the first page, and its cursor is that of the
 * newest row so far: continuing there repeats no row. @param first the first request to follow it
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
  let read: Read = { rows: [], floor: undefined };
  /** The end of the rows that were read; `undefined` before the first row. */
  let mark: Position | undefined;

  const readSince = createReadSince(run, { question, window, marks, signal: closing.signal });

  /** Returns the lane of the next query: each tail takes its turn, so that no key delays the tails of others. */
  const nextLane = () => ([...members][turns++ % members.size]?.request ?? first).lane;

  /** Reads the rows of the window before the present. @throws the failure of the query */
  async function readNewest(
    isEnough: (row: TailRow, rows: readonly TailRow[]) => boolean,
    onJoin?: RunOptions['onJoin'],
  ) {
    const { version: before } = writes;
    const from = window === undefined ? undefined : now() * MICROS_PER_MS - window;
    const asked = from === undefined ? question : since(question, from);
    const options = { signal: closing.signal, lane: nextLane(), isEnough, ...(onJoin && { onJoin }) };
    const found = await readBack(run, asked, options);
    version = before;
    // Before all rows of earlier instants.
    const start = from === undefined ? undefined : pages.by.map((_, i) => (i === 0 ? String(from) : ''));
    return { ...found, start };
  }

  function take(next: Awaited<ReturnType<typeof readNewest>>): void {
    mark = marks.later(mark, next.rows);
    // Rows beyond the first page are dropped: those of a burst would stay in memory until rows are stored again.
    const rows = next.rows.slice(0, pages.size);
    const isWhole = next.end === 'whole' && rows.length === next.rows.length;
    read = { rows, floor: isWhole ? next.start : rows.at(-1)?.position };
  }

  function hasChanged(): boolean {
    if (!seesEveryWrite) return ++ticks % UNSEEN_TICKS === 0;
    return pages.sources.some(({ table }) => writes.hasChanged(table, version));
  }

  /** Sends the rows that came since the last tick, in their order. @throws the failure of the query */
  async function sendNews(): Promise<void> {
    if (!hasChanged()) return;
    const { rows, floor } = read;
    const isAbove = ({ position }: TailRow) =>
      floor === undefined || comparePositions(pages, position, floor) < 0;
    const news = createNews(rows);
    const next = await readNewest((row, all) => !isAbove(row) || !news.endWith(all));
    const fresh = news.find(next.rows.filter(isAbove)).reverse();
    const events = fresh.length === 0 ? undefined : marks.encode(fresh, mark).events;
    take(next);
    if (next.end === 'cut') end('too_many_rows');
    else if (events !== undefined) for (const member of [...members]) member.send(events);
  }

  /** Ends all of its tails. */
  function end(reason: EndReason): void {
    for (const member of [...members]) member.end(reason);
  }

  /** The newest rows were read, which are not sent. Rejects with the failure of the query. */
  const ready = readNewest(
    () => true,
    (listener) => void joins.push(listener),
  ).then(take);

  return {
    members,
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
    readSince: (position: Position, request: TailRequest) => readSince(read, position, request),
    /** Stops its queries. */
    close: () => closing.abort(),
  };
}

interface Read {
  /** Newest first. */
  readonly rows: readonly TailRow[];
  /** Older rows are not new: they may come into view, such as after a deletion. */
  readonly floor: Position | undefined;
}

interface ReadSinceParts extends Pick<TailRequest, 'question' | 'window'> {
  readonly marks: ReturnType<typeof createMarks>;
  readonly signal: AbortSignal;
}

/**
 * Returns a function that reads the rows after a position, up to those that were read last.
 * @returns their events, oldest first
 * @throws TailraceError `invalid_parameter` if it is too far back; the failure of the query; the signal's reason
 */
function createReadSince(run: Run, { question, window, marks, signal: closing }: ReadSinceParts) {
  const pages = getPages(question);
  const flights = createSingleFlight<readonly TailRow[] | undefined>();
  const order = (a: Position, b: Position) => comparePositions(pages, a, b);

  /** @param rows oldest first; those at the position that were already sent are left out */
  function* encode(rows: readonly TailRow[], position: Position): Generator<Buffer> {
    const after = rows.findIndex((row) => order(row.position, position) !== 0);
    const there = after === -1 ? rows.length : after;
    let mark: Position | undefined = position;
    for (let at = Math.min(readTailSent(pages, position) ?? there, there); at < rows.length; ) {
      const encoded = marks.encode(rows.slice(at, at + ROWS_AT_ONCE), mark);
      at += ROWS_AT_ONCE;
      mark = encoded.mark;
      yield encoded.events;
    }
  }

  return async ({ rows, floor }: Read, position: Position, { lane, signal }: TailRequest) => {
    const isOlder = (row: TailRow) => order(position, row.position) < 0;
    const known = rows.filter((row) => !isOlder(row)).reverse();
    if (floor === undefined || order(position, floor) < 0) return encode(known, position);
    const from = withSent(pages, floor, known.filter((row) => order(row.position, floor) === 0).length);
    // Without rows long after the position: the window does not bound missed rows.
    const asked = window === undefined ? question : since(question, timeOf(position));
    const readOlder: Flight<readonly TailRow[] | undefined> = async (ended, onJoin) => {
      const options = { lane, onJoin, signal: AbortSignal.any([ended, closing]), from, isEnough: isOlder };
      const { rows: older, end } = await readBack(run, asked, options);
      return end === 'cut' ? undefined : older.filter((row) => !isOlder(row)).reverse();
    };
    const { value } = await flights.run(JSON.stringify([from, position]), readOlder, { signal, name: lane });
    if (value === undefined) throw rejectParameter(CURSOR_PARAMETER, TOO_FAR);
    return encode([...value, ...known], position);
  };
}
