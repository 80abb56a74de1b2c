import type { Source } from '../definitions/source.ts';
import { quote } from '../sql/quote.ts';
import type { Engine } from './engine.ts';
import { storedTable } from './table.ts';

/** What a source's table holds. Times are ms since the epoch; `undefined` where it holds nothing. */
export interface TableState {
  readonly rows: number;
  readonly bytes: number;
  readonly oldestMs: number | undefined;
  readonly newestMs: number | undefined;
}

/** Table → what it holds. */
export type StoreState = ReadonlyMap<string, TableState>;

type Row = Readonly<Record<string, unknown>>;

/**
 * Sizes and the times of the oldest and newest event, from what the engine keeps about its parts: no event is read. Events
 * beyond their retention count until their day leaves.
 *
 * @throws whatever `Engine.inspect` throws
 */
export async function readStoreState(engine: Engine, sources: readonly Source[]): Promise<StoreState> {
  const { cluster } = engine;
  // Of a cluster one replica of each shard, whichever answers: what is stored, counted once.
  const parts = cluster === '' ? 'system.parts' : `cluster(${quote(cluster)}, system.parts)`;
  const found = await engine.inspect(
    `SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM ${parts}
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

/** Days are partitions, so the engine has the bounds of `timestamp` of every part at hand and reads no column. */
async function readTimes(engine: Engine, tables: readonly string[]): Promise<Record<string, unknown>[]> {
  if (tables.length === 0) return [];
  const ofTable = (table: string) =>
    `SELECT ${quote(table)} AS table, toUnixTimestamp64Milli(min(timestamp)) AS oldest,
       toUnixTimestamp64Milli(max(timestamp)) AS newest FROM \`${table}\``;
  return await engine.inspect(tables.map(ofTable).join(' UNION ALL '));
}
