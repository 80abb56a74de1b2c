import type { Engine } from './engine.ts';

/** A number that rises with every change of the store. */
export type WriteVersion = number;

/** Which tables were written to, and when. */
export interface WriteMarks {
  readonly version: WriteVersion;
  /** Whether any events of a table may have changed since `version`. */
  hasChanged(table: string, version: WriteVersion): boolean;
}

/**
 * Wraps an engine to mark every write: before it, so that answers of queries that may or may not have seen it count
 * as changed later, and after it, even if it failed, before it is acknowledged.
 */
export function watchWrites(engine: Engine): { readonly engine: Engine; readonly writes: WriteMarks } {
  const tables = new Map<string, WriteVersion>();
  let version: WriteVersion = 0;
  let allVersion: WriteVersion = 0;

  /** Every table may have changed. */
  function markAll(): void {
    allVersion = ++version;
  }

  async function marked<T>(mark: () => void, change: () => Promise<T>): Promise<T> {
    mark();
    return await change().finally(mark);
  }

  return {
    engine: {
      ...engine,
      insert(batch) {
        const mark = () => void tables.set(batch.table, ++version);
        return marked(mark, () => engine.insert(batch));
      },
      command: (sql) => marked(markAll, () => engine.command(sql)),
    },
    writes: {
      get version() {
        return version;
      },
      hasChanged: (table, since) => Math.max(allVersion, tables.get(table) ?? 0) > since,
    },
  };
}
