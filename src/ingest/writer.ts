import type { Source } from '../definitions/source.ts';
import type { Engine, RowBlocks, RowText } from '../engine/engine.ts';
import { columnNames } from '../engine/table.ts';
import { type Event, encodeRow } from './event.ts';
import { blockColumns, encodeBlocks } from './rows.ts';

// Large enough that the engine's fixed cost of an insert does not count, small enough that memory stays flat.
const BATCH_CHARS_MAX = 8 * 1024 * 1024;
const BATCH_ROWS_MAX = 50_000;

/** Stores events one after another. */
export interface EventWriter {
  /** See `createBatcher`. */
  add(event: Event): Promise<void> | undefined;
  /** Resolves when every event added so far is stored. */
  flush(): Promise<void>;
  /** Number of stored events. */
  readonly stored: number;
}

/** Inserts events in batches. */
export function createEventWriter(engine: Engine, source: Source): EventWriter {
  let stored = 0;
  const batcher = createBatcher<Event>({
    itemsMax: BATCH_ROWS_MAX,
    charsMax: BATCH_CHARS_MAX,
    async send(events) {
      await engine.insert({ table: source.table, ...encode(events, source, engine) });
      stored += events.length;
    },
  });
  return {
    add(event) {
      return batcher.add(event, event.metadata.length + event.message.length + event.attributes.length);
    },
    flush: batcher.flush,
    get stored() {
      return stored;
    },
  };
}

function encode(events: readonly Event[], source: Source, { takesBlocks }: Engine): RowText | RowBlocks {
  if (takesBlocks) {
    const columns = blockColumns(source);
    return { format: 'blocks', columns, blocks: encodeBlocks(events, columns) };
  }
  const bytes = Buffer.from(events.map(encodeRow).join(''));
  return { format: 'JSONCompactEachRow', columns: columnNames(source), bytes };
}

export interface BatcherOptions<T> {
  /** Sends one batch; called for one at a time. A failure is final: `add` and `flush` reject with it from then on. */
  readonly send: (items: readonly T[]) => Promise<void>;
  /** A batch is sent when it reaches either bound. */
  readonly itemsMax: number;
  readonly charsMax: number;
}

/** Collects items into batches: while one batch is sent, the next is collected. */
export function createBatcher<T>({ send, itemsMax, charsMax }: BatcherOptions<T>) {
  let items: T[] = [];
  let chars = 0;
  let sends: Promise<void> = Promise.resolve();

  /** @returns a promise of all batches before this one */
  function sendBatch(): Promise<void> {
    const before = sends;
    const batch = items;
    items = [];
    chars = 0;
    sends = before.then(() => send(batch));
    sends.catch(() => {}); // the next `add` or `flush` rejects with it
    return before;
  }

  return {
    /** Adds an item; returns a promise only if the batch is full and has to wait for the one before it. */
    add(item: T, itemChars: number): Promise<void> | undefined {
      items.push(item);
      chars += itemChars;
      return items.length >= itemsMax || chars >= charsMax ? sendBatch() : undefined;
    },
    /** Resolves when every item added so far is sent. */
    async flush(): Promise<void> {
      if (items.length > 0) sendBatch().catch(() => {}); // `sends` rejects with it, too
      await sends;
    },
  };
}
