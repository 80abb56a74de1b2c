import { CURSOR_PARAMETER } from '../definitions/pages.ts';
import { createSingleFlight } from '../lib/single-flight.ts';
import { createSlots } from '../lib/slots.ts';
import { invalidParameters } from '../query/parameters.ts';
import { comparePositions, type Position, readTailSent } from '../query/position.ts';
import type { Group } from './group.ts';
import { READ_MAX, type TailRow } from './read-back.ts';

// Each has the rows before the first new one in memory until they are sent.
const RESUMPTIONS_MAX = 8;
// Sent at a time, of these rows.
const ROWS_AT_ONCE = 100;

/** The rows after a position, oldest first, as events. They are in memory until `release`. */
export interface Past {
  readonly events: Iterable<Buffer>;
  /** Idempotent. */
  readonly release: () => void;
}

/**
 * Reads the rows after a position of a group whose new rows are held meanwhile.
 *
 * @returns rejects with TailraceError `invalid_parameter` if the position is too far back; with what the query fails with
 */
export function createHistory() {
  const takeSlot = createSlots(RESUMPTIONS_MAX);
  const flights = createSingleFlight<readonly TailRow[] | undefined>();

  async function readSince(group: Group, position: Position): Promise<readonly TailRow[]> {
    const { rows, olderThan } = group.findSince(position);
    if (olderThan === undefined) return dropSent(group, rows, position);
    const name = JSON.stringify([group.question.key, olderThan, position]);
    const { value } = await flights.run(name, () => group.readBetween(olderThan, position));
    if (value !== undefined) return dropSent(group, [...value, ...rows], position);
    const message = `lies more than ${READ_MAX} back, which a live tail does not send; read them page by page, or begin without it`;
    throw invalidParameters([{ parameter: CURSOR_PARAMETER, message }]);
  }

  return async (group: Group, position: Position | undefined): Promise<Past> => {
    if (position === undefined) return { events: [], release() {} };
    const { release } = await takeSlot();
    try {
      return { events: inPieces(group, await readSince(group, position), position), release };
    } catch (error) {
      release();
      throw error;
    }
  };
}

/** Without those of the rows at the position that were sent. @param rows oldest first */
function dropSent({ pages }: Group, rows: readonly TailRow[], position: Position): readonly TailRow[] {
  const after = rows.findIndex((row) => comparePositions(pages, row.position, position) !== 0);
  const there = after === -1 ? rows.length : after;
  return rows.slice(Math.min(readTailSent(pages, position) ?? there, there));
}

function* inPieces(group: Group, rows: readonly TailRow[], from: Position): Generator<Buffer> {
  let last: Position | undefined = from;
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    const { events, cursor } = group.encode(rows.slice(at, at + ROWS_AT_ONCE), last);
    last = cursor;
    yield events;
  }
}
