import type { Pages } from '../definitions/pages.ts';
import { MICROS_PER_MS, type Micros, parseInstant } from '../lib/instant.ts';
import { comparePositions, type Position, readTailSent, withTailSent } from '../query/position.ts';
import type { TailRow } from './read-back.ts';

/** Marks: the cursors of events. Each is the newest position so far, and how many rows of this position there were. */
export function createMarks(pages: Pages, now: () => number) {
  /**
   * Returns the mark after one more row. A row that is ahead of the clock does not move it: a tail that continues there would leave
   * out the rows that come after it.
   */
  function advance(from: Position | undefined, to: Position): Position | undefined {
    if (timeOf(to) > now() * MICROS_PER_MS) return from;
    const order = from === undefined ? -1 : comparePositions(pages, to, from);
    if (order < 0) return withTailSent(pages, to, 1);
    const sent = from && readTailSent(pages, from);
    return order > 0 || sent === undefined ? from : withTailSent(pages, to, sent + 1);
  }

  return {
    advance,
    /** Returns the mark of a reading, or the previous one if that is newer or counts more rows. */
    later(before: Position | undefined, rows: readonly TailRow[]): Position | undefined {
      const mark = rows.reduce<Position | undefined>(
        (from, { position }) => advance(from, position),
        undefined,
      );
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
