import { CURSOR_PARAMETER } from '../definitions/pages.ts';
import { createSingleFlight } from '../lib/single-flight.ts';
import { createSlots } from '../lib/slots.ts';
import { invalidParameters } from '../query/parameters.ts';
import type { Position } from '../query/position.ts';
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
    if (olderThan === undefined) return rows;
    const name = JSON.stringify([group.question.key, olderThan, position]);
    const { value } = await flights.run(name, () => group.readBetween(olderThan, position));
    if (value !== undefined) return [...value, ...rows];
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

function* inPieces(group: Group, rows: readonly TailRow[], from: Position | undefined): Generator<Buffer> {
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE)
    yield group.encode(rows.slice(at, at + ROWS_AT_ONCE), rows[at - 1]?.position ?? from);
}
