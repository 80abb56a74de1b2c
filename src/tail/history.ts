import { CURSOR_PARAMETER } from '../definitions/pages.ts';
import { createSessionPool, keyOfLane, type PoolLimits, type PoolWork } from '../engine/lanes.ts';
import { createSingleFlight } from '../lib/single-flight.ts';
import { rejectParameter } from '../query/parameters.ts';
import { comparePositions, type Position, readTailSent } from '../query/position.ts';
import type { Group } from './group.ts';
import type { Past, TailRequest } from './member.ts';
import { READ_MAX, type TailRow } from './read-back.ts';

// Each holds the rows before the first new one in memory until they are sent.
const RESUMPTIONS_MAX = 8;
// Of one signed token.
const TOKEN_MAX = 2;
/** A key may hold as many as it leaves free: one key takes four, the next one two of the rest, and so on. */
const RESUMPTIONS: PoolWork = {
  one: 'live tail',
  many: 'live tails that continue after an id',
  mayHold(lane, held, slots) {
    const free = slots - held.length;
    const ofKey = held.filter((other) => keyOfLane(other) === keyOfLane(lane)).length;
    if (ofKey >= free) return false;
    return lane === keyOfLane(lane) || held.filter((other) => other === lane).length < TOKEN_MAX;
  },
};
// As long as a query waits for a reader.
const QUEUE_TIMEOUT_MS = 5_000;
// Rows that are sent at a time.
const ROWS_AT_ONCE = 100;

/**
 * Reads the rows after a position of a group whose new rows are held meanwhile. Uses a fair queue, since rows are in
 * memory as long as a slow reader needs.
 *
 * @throws TailraceError `overloaded`, `invalid_parameter` if the position is too far back; the failure of the query; the
 *   signal's reason
 */
export function createHistory(limits: Pick<PoolLimits, 'queueMax' | 'queuePerLaneMax'>) {
  const slots = Array.from({ length: RESUMPTIONS_MAX }, (_, i) => i);
  const pool = createSessionPool(slots, { ...limits, queueTimeoutMs: QUEUE_TIMEOUT_MS }, RESUMPTIONS);
  const flights = createSingleFlight<readonly TailRow[] | undefined>();

  async function readSince(
    group: Group,
    position: Position,
    { lane, signal }: TailRequest,
  ): Promise<readonly TailRow[]> {
    const { rows, olderThan } = group.findSince(position);
    if (olderThan === undefined) return dropSent(group, rows, position);
    const name = JSON.stringify([group.question.key, olderThan, position]);
    const { value } = await flights.run(
      name,
      (flightSignal, onJoin) =>
        group.readBetween(olderThan, position, { signal: flightSignal, lane, onJoin }),
      { signal, name: lane },
    );
    if (value !== undefined) return dropSent(group, [...value, ...rows], position);
    const message =
      `is more than ${READ_MAX} back, more than a live tail sends; read them page by page, or ` +
      'begin without it';
    throw rejectParameter(CURSOR_PARAMETER, message);
  }

  return async (group: Group, position: Position, request: TailRequest): Promise<Past> => {
    const slot = await pool.acquire(request.signal, { lane: request.lane });
    try {
      const rows = await readSince(group, position, request);
      return { events: inPieces(group, rows, position), release: () => pool.release(slot) };
    } catch (error) {
      pool.release(slot);
      throw error;
    }
  };
}

/** Removes the rows at the position that were already sent. @param rows oldest first */
function dropSent({ pages }: Group, rows: readonly TailRow[], position: Position): readonly TailRow[] {
  const after = rows.findIndex((row) => comparePositions(pages, row.position, position) !== 0);
  const there = after === -1 ? rows.length : after;
  return rows.slice(Math.min(readTailSent(pages, position) ?? there, there));
}

function* inPieces(group: Group, rows: readonly TailRow[], from: Position): Generator<Buffer> {
  let last: Position | undefined = from;
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    const { events, mark } = group.encode(rows.slice(at, at + ROWS_AT_ONCE), last);
    last = mark;
    yield events;
  }
}
