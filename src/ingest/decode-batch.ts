import type { Source } from '../definitions/source.ts';
import { blockColumns } from '../engine/block-column.ts';
import { MICROS_PER_DAY } from '../lib/instant.ts';
import { type EventRules, parseEvent, RefusedEvent } from './event.ts';
import { createRowEncoder, type DayRows, type LayoutChoice } from './rows.ts';
import { getSourceOfBody } from './source-name.ts';
import { type BodyFormat, cutEvents } from './wire-events.ts';

/** A request body with everything that decoding needs, so that any thread can decode it. */
export interface BatchInput {
  readonly bytes: Buffer;
  readonly format: BodyFormat;
  /** The source that the request names; `undefined` leaves it to a member of the body. */
  readonly source: Source | undefined;
  /** The sources that the body may name. */
  readonly candidates: readonly Source[];
  readonly rules: EventRules;
  /** From so many events on, those of the present day become blocks; `undefined` if the engine takes none. */
  readonly blockRowsMin?: number | undefined;
}

/** The events of one request, as rows. */
export interface Batch {
  readonly source: Source;
  readonly rows: readonly DayRows[];
  /** Events in `rows`. */
  readonly accepted: number;
  /** Accepted events that belong to no project. */
  readonly withoutProject: number;
  /** Accepted events in which U+FFFD stands for bytes that are not UTF-8. */
  readonly repaired: number;
  readonly refused: number;
  /** `event 3 is not a JSON object`, at most `REASONS_MAX` of them; events count from 1. */
  readonly reasons: readonly string[];
}

// As many events as `tailrace load --url` sends in one request, so that it can report the reason of each.
const REASONS_MAX = 1_000;

/**
 * Decodes a request body by the rules of docs/ingest.md: each event becomes a row, or a reason why it is rejected.
 *
 * @throws TailraceError as `cutEvents`, and as `getSourceOfBody` if the request names no source
 */
export function decodeBatch({ bytes, format, source, candidates, rules, blockRowsMin }: BatchInput): Batch {
  const { events, fields } = cutEvents(bytes, format);
  const target = source ?? getSourceOfBody(candidates, fields);
  const encoder = createRowEncoder(chooseLayout(events.length, target, { rules, blockRowsMin }));
  const reasons: string[] = [];
  let refused = 0;
  let withoutProject = 0;
  let repaired = 0;
  for (const [i, wire] of events.entries()) {
    try {
      const event = parseEvent(wire, target, rules);
      encoder.add(event);
      if (event.project === '') withoutProject++;
      if (wire.isRepaired === true) repaired++;
    } catch (error) {
      if (!(error instanceof RefusedEvent)) throw error;
      refused++;
      if (reasons.length < REASONS_MAX) reasons.push(`event ${i + 1}: ${error.message}`);
    }
  }
  const accepted = events.length - refused;
  return { source: target, rows: encoder.finish(), accepted, withoutProject, repaired, refused, reasons };
}

/**
 * Returns which rows become blocks: only those of the present day, since a request may have few events of each of many days, and an
 * insert of blocks has the larger fixed cost.
 */
function chooseLayout(
  events: number,
  source: Source,
  { rules, blockRowsMin = Number.POSITIVE_INFINITY }: Pick<BatchInput, 'rules' | 'blockRowsMin'>,
): LayoutChoice | undefined {
  if (events < blockRowsMin) return undefined;
  return { columns: blockColumns(source), day: Math.floor(rules.now / MICROS_PER_DAY) };
}

/** Returns the memory of a buffer that can move to another thread; a buffer that shares its memory with others is copied instead. */
export function transferable({ buffer, length }: Buffer): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && length === buffer.byteLength ? [buffer] : [];
}

/** Converts back to a Buffer, which arrives from another thread as a plain Uint8Array. */
export function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
