import type { Source } from '../definitions/source.ts';
import { identifier, join, type Sql, sql } from '../sql/sql.ts';
import type { Engine } from './engine.ts';
import { storedTable } from './table.ts';

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
 */
export async function readStoreState(engine: Engine, sources: readonly Source[]): Promise<StoreState> {
  const stored: Pick<StoredDay, 'table' | 'rows' | 'bytes'>[] = await engine.inspect(
    sql`SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM ${partsOf(engine)}
     WHERE database = currentDatabase() AND active GROUP BY table`,
  );
  const names = new Map(sources.map((source) => [storedTable(source, engine.cluster), source.table]));
  const ofSources = stored.flatMap(({ table }) => names.get(table) ?? []);
  const times = new Map((await readTimes(engine, ofSources)).map((row) => [row.table, row]));
  return new Map(
    stored.map(({ table, rows, bytes }) => {
      const name = names.get(table) ?? table;
      const { oldestMs, newestMs } = times.get(name) ?? {};
      return [name, { rows, bytes, oldestMs, newestMs }];
    }),
  );
}

/** Lists the days of all tables that hold rows, oldest first; on a cluster of the tables on each server. */
export async function readDays(engine: Engine): Promise<StoredDay[]> {
  return await engine.inspect(
    sql`SELECT table, partition AS day, sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM ${partsOf(engine)}
     WHERE database = currentDatabase() AND active GROUP BY table, day ORDER BY day, table`,
  );
}

/** Reads the version of ClickHouse, such as `26.7.2.1`. */
export async function readEngineVersion(engine: Engine): Promise<string> {
  const [row] = await engine.inspect('SELECT version() AS version');
  return String(row?.['version']);
}

/** On a cluster one replica of each shard, so that rows are counted once. */
function partsOf({ cluster }: Engine): Sql {
  return cluster === '' ? sql`system.parts` : sql`cluster(${cluster}, system.parts)`;
}

/** Days are partitions, so the engine knows the bounds of `timestamp` of every part and reads no column. */
async function readTimes(
  engine: Engine,
  tables: readonly string[],
): Promise<{ table: string; oldestMs: number; newestMs: number }[]> {
  if (tables.length === 0) return [];
  const ofTable = (table: string) =>
    sql`SELECT ${table} AS table, toUnixTimestamp64Milli(min(timestamp)) AS oldestMs,
       toUnixTimestamp64Milli(max(timestamp)) AS newestMs FROM ${identifier(table)}`;
  return await engine.inspect(join(tables.map(ofTable), ' UNION ALL '));
}

/** The content of the tables. Metrics and the overview both read it here, so that they agree. */
export interface StoreSizes {
  readonly tables: StoreState;
  /** When the tables were read, ms since the epoch. */
  readonly readMs: number;
  /** Whether the engine has failed since. */
  readonly hasFailed: boolean;
}

const AGE_MS_MAX = 5_000;
// Neither a scrape nor the overview may wait for an engine that is busy, closing or unavailable.
const WAIT_MS_MAX = 1_000;

/**
 * Reads the tables at most once in five seconds, for all callers together.
 *
 * @param now ms since the epoch
 * @returns a function that returns the last sizes if the engine fails or takes longer than a second, and `undefined` if
 *   there are none yet
 */
export function createStoreSizes(
  read: () => Promise<StoreState>,
  now: () => number,
): () => Promise<StoreSizes | undefined> {
  let kept: StoreSizes | undefined;
  let reading: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    const readMs = now();
    const tables = await read().catch(() => undefined); // the state of the engine is another metric
    kept = tables === undefined ? kept && { ...kept, hasFailed: true } : { tables, readMs, hasFailed: false };
    reading = undefined;
  }

  return async () => {
    if (kept === undefined || Math.abs(now() - kept.readMs) >= AGE_MS_MAX) {
      reading ??= refresh();
      const late = new Promise((resolve) => setTimeout(resolve, WAIT_MS_MAX).unref());
      await Promise.race([reading, late]);
    }
    return kept;
  };
}
