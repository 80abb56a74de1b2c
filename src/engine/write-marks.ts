import { sql } from '../sql/sql.ts';
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

/** The tables that may have rows: an empty one takes the engine as long to analyse as one that is full. */
export interface FilledTables {
  /** False only if no acknowledged write can have stored a row in it. */
  mayHaveRows(table: string): boolean;
}

// No table has this name, so only changes count that may be of any table.
const ANY_TABLE = '';

/**
 * Reads which tables have rows, and again after a command, which may have changed any of them. Without a reading, and
 * on a store that other processes may write to, every table may have rows.
 */
export function createFilledTables(
  engine: Pick<Engine, 'inspect' | 'seesEveryWrite'>,
  writes: Pick<WriteMarks, 'version' | 'hasChanged'>,
): FilledTables {
  let last: { readonly version: WriteVersion; readonly tables: ReadonlySet<string> } | undefined;
  let isReading = false;

  async function read(): Promise<void> {
    isReading = true;
    const { version } = writes; // from before: what is written meanwhile counts as changed
    try {
      const rows = await engine.inspect(
        sql`SELECT DISTINCT table FROM system.parts WHERE database = currentDatabase() AND active AND rows > 0`,
      );
      last = { version, tables: new Set(rows.map(({ table }) => String(table))) };
    } catch {
      last = undefined; // the next search asks again
    } finally {
      isReading = false;
    }
  }

  return {
    mayHaveRows(table) {
      if (!engine.seesEveryWrite) return true;
      const known = last;
      if (known !== undefined && !writes.hasChanged(ANY_TABLE, known.version))
        return known.tables.has(table) || writes.hasChanged(table, known.version);
      if (!isReading) void read();
      return true;
    },
  };
}
