import type { Source } from '../definitions/source.ts';
import { quote } from '../sql/quote.ts';
import type { Engine } from './engine.ts';
import { storedTable } from './table.ts';

/** Size and times of a source's table. Times are ms since the epoch; `undefined` if it is empty. */
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
  /** On the disk. */
  readonly bytes: number;
}

type Row = Readonly<Record<string, unknown>>;

/**
 * Sizes and the times of the oldest and newest event, from what the engine keeps about its parts: no event is read. Events
 * beyond their retention count until their day leaves.
 *
 * @throws the errors of `Engine.inspect`
 */
export async function readStoreState(engine: Engine, sources: readonly Source[]): Promise<StoreState> {
  const { cluster } = engine;
  const found = await engine.inspect(
    `SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM ${partsOf(engine)}
     WHERE database = currentDatabase() AND active GROUP BY table`,
  );
  const names = new Map(sources.map((source) => [storedTable(source, cluster), source.table]));
  const sizes = found.map(
    (row) => ({ ...row, table: names.get(String(row['table'])) ?? row['table'] }) as Row,
  );
  const stored = new Set(sizes.map((row) => row['table']));
  const tables = sources.map((source) => source.table).filter((table) => stored.has(table));
  const times = new Map((await readTimes(engine, tables)).map((row) => [row['table'], row]));
  return new Map(
    sizes.map((row) => {
      const time = times.get(row['table']);
      const state = {
        rows: Number(row['rows']),
        bytes: Number(row['bytes']),
        oldestMs: time && Number(time['oldest']),
        newestMs: time && Number(time['newest']),
      };
      return [String(row['table']), state];
    }),
  );
}

/**
 * The days of all tables in the database that hold rows, oldest first; on a cluster those of the tables on each server.
 *
 * @throws the errors of `Engine.inspect`
 */
export async function readDays(engine: Engine): Promise<StoredDay[]> {
  const rows = await engine.inspect(
    `SELECT table, partition AS day, sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM ${partsOf(engine)}
     WHERE database = currentDatabase() AND active GROUP BY table, day ORDER BY day, table`,
  );
  return rows.map((row) => ({
    table: String(row['table']),
    day: String(row['day']),
    rows: Number(row['rows']),
    bytes: Number(row['bytes']),
  }));
}

/**
 * The version of ClickHouse, such as `26.7.2.1`.
 *
 * @throws the errors of `Engine.inspect`
 */
export async function readEngineVersion(engine: Engine): Promise<string> {
  const [row] = await engine.inspect('SELECT version() AS version');
  return String(row?.['version']);
}

/**
 * The engine's own clock, ms since the epoch.
 *
 * @throws the errors of `Engine.inspect`
 */
export async function readEngineMs(engine: Engine): Promise<number> {
  const [row] = await engine.inspect('SELECT toUnixTimestamp64Milli(now64(3)) AS ms');
  return Number(row?.['ms']);
}

/** On a cluster one replica of each shard, so that rows are counted once. */
function partsOf({ cluster }: Engine): string {
  return cluster === '' ? 'system.parts' : `cluster(${quote(cluster)}, system.parts)`;
}

/** Days are partitions, so the engine has the bounds of `timestamp` of every part at hand and reads no column. */
async function readTimes(engine: Engine, tables: readonly string[]): Promise<Record<string, unknown>[]> {
  if (tables.length === 0) return [];
  const ofTable = (table: string) =>
    `SELECT ${quote(table)} AS table, toUnixTimestamp64Milli(min(timestamp)) AS oldest,
       toUnixTimestamp64Milli(max(timestamp)) AS newest FROM \`${table}\``;
  return await engine.inspect(tables.map(ofTable).join(' UNION ALL '));
}
