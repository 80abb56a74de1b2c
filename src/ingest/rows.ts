import { COMMON_COLUMNS } from '../definitions/checks/source.ts';
import type { Source } from '../definitions/source.ts';
import type { RowBlocks, RowText } from '../engine/engine.ts';
import { type BlockColumn, createBlockWriter } from '../engine/row-block.ts';
import { columnNames } from '../engine/table.ts';
import { MICROS_PER_DAY } from '../lib/instant.ts';
import { KINDS } from '../search/field.ts';
import { charsOf, type Event, encodeRow, rowValues } from './event.ts';

/** How rows are passed to the engine. `blocks`: see `RowBlocks`; `text`: `JSONCompactEachRow`. */
export type RowLayout = 'text' | 'blocks';

/** Rows for one day of one table. */
export interface DayRows {
  /** Days since 1970, UTC. */
  readonly day: number;
  readonly count: number;
  readonly layout: RowLayout;
  readonly bytes: Buffer;
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
export function toInsert(source: Source, layout: RowLayout, parts: readonly Buffer[]): RowText | RowBlocks {
  if (layout === 'blocks') return { format: 'blocks', columns: blockColumns(source), blocks: parts };
  return { format: 'JSONCompactEachRow', columns: columnNames(source), bytes: Buffer.concat(parts) };
}

/**
 * Encodes events as the bytes of inserts, one at a time, so that each can be freed before the next is parsed.
 *
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
      [...days].map(([day, { layout, finish }]) => {
        const { count, parts } = finish();
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

/** Encodes events as parts of one insert: as blocks with these columns, else as text. */
export function encodeParts(events: Iterable<Event>, columns?: readonly BlockColumn[]): Buffer[] {
  const encoder = createEncoder(columns);
  for (const event of events) encoder.add(event);
  return encoder.finish().parts;
}

// Rows are collected as texts, since encoding many small ones at once is cheaper; but not for long, since garbage collection
// stops the thread while it moves live objects, and bytes lie outside of the heap.
const TEXT_CHARS_MAX = 64 * 1024;

function createEncoder(columns: readonly BlockColumn[] | undefined) {
  const layout: RowLayout = columns === undefined ? 'text' : 'blocks';
  const start = () => (columns === undefined ? startText() : startBlock(columns));
  const parts: Buffer[] = [];
  let part = start();
  let count = 0;
  return {
    layout,
    add(event: Event): void {
      count++;
      if (part.add(event) < TEXT_CHARS_MAX) return;
      parts.push(part.finish());
      part = start();
    },
    finish: () => ({ count, parts: [...parts, part.finish()] }),
  };
}

/** Rows that are encoded together. */
interface Part {
  /** @returns about how many characters it has */
  add(event: Event): number;
  finish(): Buffer;
}

function startText(): Part {
  let text = '';
  return {
    add(event) {
      text += encodeRow(event);
      return text.length;
    },
    finish: () => Buffer.from(text),
  };
}

function startBlock(columns: readonly BlockColumn[]): Part {
  const writer = createBlockWriter(columns);
  let chars = 0;
  return {
    add(event) {
      writer.add(rowValues(event));
      chars += charsOf(event);
      return chars;
    },
    finish: writer.finish,
  };
}
