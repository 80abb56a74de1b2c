import { COMMON_COLUMNS } from '../definitions/checks/source.ts';
import type { Source } from '../definitions/source.ts';
import type { Engine, RowBlocks, RowText } from '../engine/engine.ts';
import { type BlockColumn, writeBlock } from '../engine/row-block.ts';
import { columnNames } from '../engine/table.ts';
import { formatInstant, MICROS_PER_DAY } from '../lib/instant.ts';
import { KINDS } from '../search/field.ts';
import type { Event } from './event.ts';

/** How rows are passed to the engine. `blocks`: see `RowBlocks`; `text`: `JSONCompactEachRow`. */
export type RowLayout = 'text' | 'blocks';

/** Rows for one day of one table. */
export interface DayRows {
  /** Days since 1970, UTC. */
  readonly day: number;
  readonly count: number;
  readonly layout: RowLayout;
  readonly bytes: Uint8Array;
}

/** Returns the columns of a source's blocks, in the order of `tableColumns`. */
export function blockColumns(source: Source): BlockColumn[] {
  const common = COMMON_COLUMNS.map((name) => ({
    name,
    kind: name === 'timestamp' ? ('micros' as const) : ('text' as const),
  }));
  return [...common, ...source.columns.map(({ name, type }) => ({ name, kind: KINDS[type] }))];
}

/** Returns encoded rows of a source as an insert has them. */
export function toInsert(
  source: Source,
  layout: RowLayout,
  parts: readonly Uint8Array[],
): RowText | RowBlocks {
  if (layout === 'blocks') return { format: 'blocks', columns: blockColumns(source), blocks: parts };
  return { format: 'JSONCompactEachRow', columns: columnNames(source), bytes: Buffer.concat(parts) };
}

/**
 * Encodes events one at a time, so that each can be freed before the next is parsed.
 * @param blocks if given, the rows of that day (days since 1970) become blocks with these columns; all others are text
 */
export function createRowEncoder(blocks?: {
  readonly columns: readonly BlockColumn[];
  readonly day: number;
}) {
  const days = new Map<number, ReturnType<typeof createEncoder>>();
  return {
    add(event: Event): void {
      const day = Math.floor(event.timestamp / MICROS_PER_DAY);
      const known = days.get(day);
      const encoder = known ?? createEncoder(day === blocks?.day ? blocks.columns : undefined);
      if (known === undefined) days.set(day, encoder);
      encoder.add(event);
    },
    /** Returns everything that was added; nothing can be added afterwards. */
    finish: (): DayRows[] =>
      [...days].map(([day, encoder]) => {
        const { count, layout, parts } = encoder.finish();
        const [first, ...more] = parts;
        return { day, count, layout, bytes: first && more.length === 0 ? first : Buffer.concat(parts) };
      }),
  };
}

/** Encodes the rows of a list of events as text. */
export function encodeRows(events: Iterable<Event>): DayRows[] {
  const encoder = createRowEncoder();
  for (const event of events) encoder.add(event);
  return encoder.finish();
}

export async function insertEvents(engine: Engine, source: Source, events: readonly Event[]): Promise<void> {
  if (events.length === 0) return;
  const encoder = createEncoder(engine.takesBlocks ? blockColumns(source) : undefined);
  for (const event of events) encoder.add(event);
  const { layout, parts } = encoder.finish();
  await engine.insert({ table: source.table, ...toInsert(source, layout, parts) });
}

// Rows are collected as texts, since encoding many small ones at once is cheaper; but not for long, since garbage collection
// stops the thread while it moves live objects, and bytes lie outside of the heap.
const PART_CHARS_MAX = 64 * 1024;

/** Encodes rows as blocks with these columns, else as text. */
export function createEncoder(columns?: readonly BlockColumn[]) {
  const layout: RowLayout = columns === undefined ? 'text' : 'blocks';
  const parts: Buffer[] = [];
  let rows: unknown[][] = [];
  let text = '';
  let chars = 0;
  let count = 0;

  function endPart(): void {
    parts.push(columns === undefined ? Buffer.from(text) : writeBlock(columns, rows));
    rows = [];
    text = '';
    chars = 0;
  }

  return {
    add(event: Event): void {
      count++;
      if (columns === undefined) text += encodeRow(event);
      else rows.push(rowValues(event, event.timestamp));
      chars = columns === undefined ? text.length : chars + charsOf(event);
      if (chars >= PART_CHARS_MAX) endPart();
    },
    finish() {
      endPart();
      return { count, layout, parts };
    },
  };
}

/** Returns about how many characters an event has. */
export const charsOf = ({ message, metadata, attributes }: Event) =>
  message.length + metadata.length + attributes.length;

/** Writes a row of the source's table in the engine's format, with its newline. */
function encodeRow(event: Event): string {
  return `${JSON.stringify(rowValues(event, formatInstant(event.timestamp)).map(toWellFormed))}\n`;
}

/** Returns the values of an event's row; columns as `tableColumns` orders them. */
function rowValues({ id, project, message, metadata, attributes, typed }: Event, timestamp: unknown) {
  return [id, timestamp, project, message, metadata, attributes, ...typed];
}

/** Half a surrogate pair has no UTF-8 form: the engine would reject it, and every row of the same insert with it. */
function toWellFormed(value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}
