import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../lib/folder.ts';
import { writeValue } from '../../sql/quote.ts';
import type { QueryLimits } from '../engine.ts';
import type { EngineEnv } from '../process/engine-process.ts';
import type { EngineRequest } from '../process/protocol.ts';
import {
  ALL_FILE_SETTINGS,
  type EngineSettings,
  FORMAT_SETTINGS,
  readSettings,
  SQL_BYTES_MAX,
} from '../read-settings.ts';
import { DATABASE, writeEngineConfig } from './config.ts';

/**
 * By default the engine compiles the functions of a statement when it runs for the fourth time. That takes 20 to 30 ms, again after
 * each start, and saves a twentieth of pure arithmetic on millions of rows; sums and counts are as fast without.
 */
const NOT_COMPILED = {
  compile_expressions: 0,
  compile_aggregate_expressions: 0,
  compile_sort_description: 0,
};

/** The channel number of each session; readers follow from `firstReader` on. */
export const CHANNEL = {
  /** The control session, which runs KILL and heartbeats while the others are busy. */
  control: 0,
  /** The session that reads the engine's system tables. */
  inspector: 1,
  /** The writer, the only session that may change data. */
  writer: 2,
  firstReader: 3,
} as const;

type Open = EngineRequest & { readonly op: 'open' };

export const findStoreDir = (dataDir: string) => join(dataDir, 'store');
export const findConfigDir = (dataDir: string) => join(dataDir, 'engine');

/** Whether a data directory has ever had a store of this engine. */
export function hasEmbeddedStore(dataDir: string): boolean {
  return existsSync(findStoreDir(dataDir));
}

/**
 * Writes the engine's configuration, creates the folder of the store, and returns how each session is opened. A setting given with a
 * query sticks to its session, so all are set here.
 */
export function describeSessions(
  dataDir: string,
  options: { memoryBytesMax: number; limits: QueryLimits; env?: EngineEnv },
) {
  const connectionArgs = writeEngineConfig(findConfigDir(dataDir), options.memoryBytesMax);
  const path = findStoreDir(dataDir);
  makeFolder(path, 0o700); // the engine's own mode is world-readable
  const openWith = (settings: EngineSettings): Open => ({
    op: 'open',
    path,
    connectionArgs,
    statements: [`CREATE DATABASE IF NOT EXISTS ${DATABASE}`, `USE ${DATABASE}`, set(settings)],
  });
  const own = openWith({ ...FORMAT_SETTINGS, max_query_size: SQL_BYTES_MAX });
  return {
    env: options.env,
    /** Describes the writer. It creates the database, so it is opened first. */
    control: own,
    inspector: own,
    writer: openWith({
      max_partitions_per_insert_block: 0, // an insert of rows from many days makes a part for each; the default is 100
      deduplicate_insert: 'disable', // inserts with a token enable it
      materialize_skip_indexes_on_insert: 0, // merges create them: new parts are small, and soon merged
      max_query_size: SQL_BYTES_MAX,
    }),
    /** Describes a reader: one statement at a time, with its limits, locked read-only. */
    reader: openWith({
      ...readSettings(options.limits),
      ...ALL_FILE_SETTINGS,
      ...NOT_COMPILED,
      readonly: 1, // last: nothing can be set after it
    }),
  };
}

export type EmbeddedSessions = ReturnType<typeof describeSessions>;

function set(settings: EngineSettings): string {
  const written = Object.entries(settings).map(
    ([name, value]) => `${name} = ${typeof value === 'string' ? writeValue(value) : value}`,
  );
  return `SET ${written.join(', ')}`;
}
