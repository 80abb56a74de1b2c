import type { Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { columnNames } from '../engine/table.ts';
import { type Event, encodeRow } from './event.ts';

export interface EventWriter {
  /** Takes an event; resolves at once unless a full batch has to wait for the one before it. */
  add(event: Event): Promise<void> | undefined;
  /** Resolves when every event added so far is stored. */
  flush(): Promise<void>;
  /** Events that are stored. */
  readonly stored: number;
}

// Large enough that the engine's fixed cost of an insert does not count, small enough that memory stays flat.
const BATCH_CHARS_MAX = 8 * 1024 * 1024;
const BATCH_ROWS_MAX = 50_000;

/** Stores events in batches: while one is being inserted, the next is being put together. */
export function createEventWriter(engine: Engine, source: Source): EventWriter {
  const columns = columnNames(source);
  let rows: string[] = [];
  let chars = 0;
  let stored = 0;
  // One insert after another; the first that fails ends the row, and all who wait behind it learn of it.
  let inserts: Promise<void> = Promise.resolve();

  async function insert(batch: readonly string[]): Promise<void> {
    const bytes = Buffer.from(batch.join(''));
    await engine.insert({ table: source.table, columns, format: 'JSONCompactEachRow', bytes });
    stored += batch.length;
  }

  /** Sends off what there is; resolves when all that was sent before it is stored. */
  function send(): Promise<void> {
    const before = inserts;
    if (rows.length === 0) return before;
    const batch = rows;
    rows = [];
    chars = 0;
    inserts = before.then(() => insert(batch));
    inserts.catch(() => {}); // thrown to whoever adds or flushes next
    return before;
  }

  return {
    get stored() {
      return stored;
    },
    add(event) {
      const row = encodeRow(event);
      rows.push(row);
      chars += row.length;
      return rows.length >= BATCH_ROWS_MAX || chars >= BATCH_CHARS_MAX ? send() : undefined;
    },
    async flush() {
      send().catch(() => {}); // told by `inserts`
      await inserts;
    },
  };
}
