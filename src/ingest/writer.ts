import type { Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { columnNames } from '../engine/table.ts';
import { createBatcher } from './batcher.ts';
import { type Event, encodeRow } from './event.ts';

// Large enough that the engine's fixed cost of an insert does not count, small enough that memory stays flat.
const BATCH_CHARS_MAX = 8 * 1024 * 1024;
const BATCH_ROWS_MAX = 50_000;

/** Inserts events in batches. */
export function createEventWriter(engine: Engine, source: Source) {
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
    /** See `createBatcher`. */
    add(event: Event): Promise<void> | undefined {
      const row = encodeRow(event);
      return batcher.add(row, row.length);
    },
    /** Resolves when every event added so far is stored. */
    flush: batcher.flush,
    /** Number of stored events. */
    get stored() {
      return stored;
    },
  };
}
