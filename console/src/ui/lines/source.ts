import type { Row } from '../../api/answer.ts';
import type { Line } from './line.ts';

/** A part of a range: `from` inclusive, `until` exclusive, ms since the epoch; fractions are microseconds. */
export interface Slice {
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface LinePage {
  /** Newest first. */
  readonly lines: readonly Line[];
  /** Continues within the bounds; undefined at their end. */
  readonly next: string | undefined;
  /** What may be wrong with a search that finds nothing. */
  readonly hint?: string | undefined;
}

export interface PageOptions {
  /** At most; sources whose pages have one length ignore it. */
  readonly rows: number;
  readonly cursor: string | undefined;
  readonly signal: AbortSignal;
}

/** What a list of lines reads: a search, or an endpoint. Its bounds are infinite if it has none. */
export interface LineSource extends Slice {
  /** Equal for sources that differ only in time: lines of the one stay until those of the other are there. */
  readonly events: string;
  /** Whether a page may have as many rows as are asked for. */
  readonly hasLongPages: boolean;
  /** The newest page, if it was read already. */
  readonly first?: LinePage;
  /** Undefined if new lines cannot be followed. */
  readonly tail: LineTail | undefined;
  /** The range up to an instant in parts that are read one after the other, newest first. */
  planSlices(untilMs: number): readonly Slice[];
  /** Reads a page within bounds. @throws ApiError */
  readPage(bounds: Slice, options: PageOptions): Promise<LinePage>;
}

export interface LineTail {
  /** Path of a live tail (docs/pages.md); undefined: new lines are polled. */
  readonly path: string | undefined;
  readonly toLine: (row: Row) => Line;
  /** The bounds of lines that have come since one was the newest; without one, of those to begin with. */
  since(newest: Line | undefined): Slice;
}
