import { COMMON_COLUMNS } from '../definitions/checks/source.ts';
import type { ColumnType, Source } from '../definitions/source.ts';
import { type BlockColumn, type BlockKind, createBlockWriter } from '../engine/row-block.ts';
import { MICROS_PER_DAY } from '../lib/instant.ts';
import { type Event, encodeRow, rowValues } from './event.ts';

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

const KINDS: Readonly<Record<ColumnType, BlockKind>> = {
  string: 'text',
  keyword: 'text',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
};

/** Returns the columns of a source's blocks, in the order of `tableColumns`. */
export function blockColumns(source: Source): BlockColumn[] {
  const common = COMMON_COLUMNS.map((name) => ({
    name,
    kind: name === 'timestamp' ? ('micros' as const) : ('text' as const),
  }));
  return [...common, ...source.columns.map(({ name, type }) => ({ name, kind: KINDS[type] }))];
}

// Rows are collected as texts, since encoding many small ones at once is cheaper; but not for long, since garbage collection
// stops the thread while it moves live objects, and bytes lie outside of the heap.
const TEXT_CHARS_MAX = 64 * 1024;

/** Encodes rows one at a time. */
interface Encoder {
  /** @returns about how many characters wait to be encoded */
  add(event: Event): number;
  /** Returns what was added since the last call as bytes. */
  cut(): Buffer;
}

interface Day {
  readonly layout: RowLayout;
  readonly encoder: Encoder;
  count: number;
  readonly parts: Buffer[];
}

/** Chooses the layout of a day's rows. */
export interface LayoutChoice {
  /** The columns of the rows' blocks. */
  readonly columns: readonly BlockColumn[];
  /** The only day whose rows become blocks, days since 1970. */
  readonly day: number;
}

/**
 * Encodes events as the bytes of inserts, one at a time, so that each can be freed before the next is parsed.
 *
 * @param blocks if given, the rows of that day become blocks; all others are text
 */
export function createRowEncoder(blocks?: LayoutChoice) {
  const days = new Map<number, Day>();
  return {
    add(event: Event): void {
      const number = Math.floor(event.timestamp / MICROS_PER_DAY);
      const day = days.get(number) ?? createDay(number === blocks?.day ? blocks.columns : undefined);
      if (day.count === 0) days.set(number, day);
      day.count++;
      if (day.encoder.add(event) >= TEXT_CHARS_MAX) day.parts.push(day.encoder.cut());
    },
    /** Returns everything that was added; nothing can be added afterwards. */
    finish: (): DayRows[] =>
      [...days].map(([day, rows]) => ({
        day,
        count: rows.count,
        layout: rows.layout,
        bytes: join(rows),
      })),
  };
}

/** Encodes the rows of a list of events as text. */
export function encodeRows(events: Iterable<Event>): DayRows[] {
  const encoder = createRowEncoder();
  for (const event of events) encoder.add(event);
  return encoder.finish();
}

function createDay(columns: readonly BlockColumn[] | undefined): Day {
  return {
    layout: columns === undefined ? 'text' : 'blocks',
    encoder: columns === undefined ? createTextEncoder() : createBlockEncoder(columns),
    count: 0,
    parts: [],
  };
}

function createTextEncoder(): Encoder {
  let text = '';
  return {
    add(event) {
      text += encodeRow(event);
      return text.length;
    },
    cut() {
      const bytes = Buffer.from(text);
      text = '';
      return bytes;
    },
  };
}

/** Encodes events as blocks of rows. */
export function encodeBlocks(events: Iterable<Event>, columns: readonly BlockColumn[]): Buffer[] {
  const encoder = createBlockEncoder(columns);
  const blocks: Buffer[] = [];
  for (const event of events) if (encoder.add(event) >= TEXT_CHARS_MAX) blocks.push(encoder.cut());
  return [...blocks, encoder.cut()];
}

function createBlockEncoder(columns: readonly BlockColumn[]): Encoder {
  let writer = createBlockWriter(columns);
  let chars = 0;
  return {
    add(event) {
      writer.add(rowValues(event));
      chars += event.metadata.length + event.message.length + event.attributes.length;
      return chars;
    },
    cut() {
      const block = writer.finish();
      writer = createBlockWriter(columns);
      chars = 0;
      return block;
    },
  };
}

function join({ encoder, parts }: Day): Buffer {
  parts.push(encoder.cut());
  const [first, ...more] = parts;
  return first !== undefined && more.length === 0 ? first : Buffer.concat(parts);
}
