import { sql } from '../sql/sql.ts';
import type { Engine } from './engine.ts';
import type { WriteMarks, WriteVersion } from './write-marks.ts';

/** The tables that may have rows: an empty one takes the engine as long to analyse as one that is full. */
export interface FilledTables {
  /** False only if no acknowledged write can have stored a row in it. */
  mayHaveRows(table: string): boolean;
}

// No table has this name, so only changes count that may be of any table.
const ANY_TABLE = '';

interface Reading {
  readonly version: WriteVersion;
  readonly tables: ReadonlySet<string>;
}

/**
 * Reads which tables have rows, and again after a command, which may have changed any of them. Without a reading,
 * and on a store that other processes may write to, every table may have rows.
 */
export function createFilledTables(
  engine: Pick<Engine, 'inspect' | 'seesEveryWrite'>,
  writes: Pick<WriteMarks, 'version' | 'hasChanged'>,
): FilledTables {
  let last: Reading | undefined;
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
