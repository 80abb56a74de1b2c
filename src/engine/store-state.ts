import type { Source } from '../definitions/source.ts';
import { identifier, join, type Sql, sql } from '../sql/sql.ts';
import type { Engine } from './engine.ts';
import { storedTable } from './table.ts';
import type { WriteMarks, WriteVersion } from './write-marks.ts';

/** Size on the disk and times of a source's table. Times are ms since the epoch; `undefined` if it is empty. */
export interface TableState {
  readonly rows: number;
  readonly bytes: number;
  readonly oldestMs: number | undefined;
  readonly newestMs: number | undefined;
}

/** Table → its state. */
export type StoreState = ReadonlyMap<string, TableState>;

/** One day of one table. */
export interface StoredDay {
  readonly table: string;
  /** `2026-11-20` */
  readonly day: string;
  readonly rows: number;
  readonly bytes: number;
}

/**
 * Reads sizes and the times of the oldest and newest event, from the engine's metadata of its parts: no event is read.
 * Events beyond their retention count until their day is dropped.
 *
 * @throws the errors of `Engine.inspect`
 */
export async function readStoreState(engine: Engine, sources: readonly Source[]): Promise<StoreState> {
  const stored = await engine.inspect(
    sql`SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM ${partsOf(engine)}
     WHERE database = currentDatabase() AND active GROUP BY table`,
  );
  const names = new Map(sources.map((source) => [storedTable(source, engine.cluster), source.table]));
  const ofSources = stored.flatMap(({ table }) => names.get(String(table)) ?? []);
  const times = new Map((await readTimes(engine, ofSources)).map((row) => [row['table'], row]));
  return new Map(
    stored.map(({ table, rows, bytes }) => {
      const name = names.get(String(table)) ?? String(table);
      const time = times.get(name);
      const oldestMs = time && Number(time['oldest']);
      const newestMs = time && Number(time['newest']);
      return [name, { rows: Number(rows), bytes: Number(bytes), oldestMs, newestMs }];
    }),
  );
}

/**
 * Lists the days of all tables in the database that hold rows, oldest first; on a cluster the days of the tables on
 * each server.
 *
 * @throws the errors of `Engine.inspect`
 */
export async function readDays(engine: Engine): Promise<StoredDay[]> {
  const rows = await engine.inspect(
    sql`SELECT table, partition AS day, sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM ${partsOf(engine)}
     WHERE database = currentDatabase() AND active GROUP BY table, day ORDER BY day, table`,
  );
  return rows.map(({ table, day, rows, bytes }) => ({
    table: String(table),
    day: String(day),
    rows: Number(rows),
    bytes: Number(bytes),
  }));
}

/** Reads the version of ClickHouse, such as `26.7.2.1`. @throws the errors of `Engine.inspect` */
export async function readEngineVersion(engine: Engine): Promise<string> {
  const [row] = await engine.inspect('SELECT version() AS version');
  return String(row?.['version']);
}

/** On a cluster one replica of each shard, so that rows are counted once. */
function partsOf({ cluster }: Engine): Sql {
  return cluster === '' ? sql`system.parts` : sql`cluster(${cluster}, system.parts)`;
}

/** Days are partitions, so the engine knows the bounds of `timestamp` of every part and reads no column. */
async function readTimes(engine: Engine, tables: readonly string[]): Promise<Record<string, unknown>[]> {
  if (tables.length === 0) return [];
  const ofTable = (table: string) =>
    sql`SELECT ${table} AS table, toUnixTimestamp64Milli(min(timestamp)) AS oldest,
       toUnixTimestamp64Milli(max(timestamp)) AS newest FROM ${identifier(table)}`;
  return await engine.inspect(join(tables.map(ofTable), ' UNION ALL '));
}

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
 * Reads which tables have rows, and again after a command, which may have changed any of them. Without a reading, and
 * on a store that other processes may write to, every table may have rows.
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
