import type { Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { columnNames } from '../engine/table.ts';
import { createBatcher } from './batcher.ts';
import { type Event, encodeRow } from './event.ts';

export interface EventWriter {
  /** See `Batcher.add`. */
  add(event: Event): Promise<void> | undefined;
  /** Resolves when every event added so far is stored. */
  flush(): Promise<void>;
  /** Number of stored events. */
  readonly stored: number;
}

// Large enough that the engine's fixed cost of an insert does not count, small enough that memory stays flat.
const BATCH_CHARS_MAX = 8 * 1024 * 1024;
const BATCH_ROWS_MAX = 50_000;

/** Inserts events in batches. */
export function createEventWriter(engine: Engine, source: Source): EventWriter {
  const columns = columnNames(source);
  let stored = 0;
  const batcher = createBatcher<string>({
    itemsMax: BATCH_ROWS_MAX,
    charsMax: BATCH_CHARS_MAX,
    async send(rows) {
      const bytes = Buffer.from(rows.join(''));
      await engine.insert({ table: source.table, columns, format: 'JSONCompactEachRow', bytes });
      stored += rows.length;
    },
  });
  return {
    add(event) {
      const row = encodeRow(event);
      return batcher.add(row, row.length);
    },
    flush: batcher.flush,
    get stored() {
      return stored;
    },
  };
}
