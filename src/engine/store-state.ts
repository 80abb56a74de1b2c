import type { Source } from '../definitions/source.ts';
import { quote } from '../sql/quote.ts';
import type { Engine } from './engine.ts';

/** What a source's table holds. Times are ms since the epoch; `undefined` where it holds nothing. */
export interface TableState {
  readonly rows: number;
  readonly bytes: number;
  readonly oldestMs: number | undefined;
  readonly newestMs: number | undefined;
}

/** Table → what it holds. */
export type StoreState = ReadonlyMap<string, TableState>;

/**
 * Sizes and the times of the oldest and newest event, from what the engine keeps about its parts: no event is read. Events
 * beyond their retention count until their day leaves.
 *
 * @throws whatever `Engine.inspect` throws
 */
export async function readStoreState(engine: Engine, sources: readonly Source[]): Promise<StoreState> {
  const sizes = await engine.inspect(
    `SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM system.parts
     WHERE database = currentDatabase() AND active GROUP BY table`,
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
