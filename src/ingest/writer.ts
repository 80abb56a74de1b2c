import type { Source } from '../definitions/source.ts';
import type { Engine, RowBlocks, RowText } from '../engine/engine.ts';
import { blockColumns } from '../engine/row-block.ts';
import { columnNames } from '../engine/table.ts';
import { createBatcher } from './batcher.ts';
import { type Event, encodeRow } from './event.ts';
import { encodeBlocks } from './rows.ts';

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
