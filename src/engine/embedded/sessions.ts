import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readMachine, sizeEngine } from '../../config/setting.ts';
import { makeFolder } from '../../lib/file.ts';
import { writeValue } from '../../sql/sql.ts';
import type { QueryLimits } from '../engine.ts';
import type { EngineRequest } from '../process/channel.ts';
import type { EngineEnv } from '../process/engine-process.ts';
import {
  ALL_FILE_SETTINGS,
  type EngineSettings,
  FORMAT_SETTINGS,
  readSettings,
  SANDBOX_LIMITS,
  SQL_BYTES_MAX,
  SUBQUERY_DEPTH_MAX,
} from '../read-settings.ts';

/** The database of all of Tailrace's tables, on every engine; stored queries name their tables without it. */
export const DATABASE = 'tailrace';

const MIB = 1024 * 1024;

// Small on purpose: ClickHouse's defaults are for a dedicated machine. Beyond its size a cache evicts the least
// recently used.
const SERVER = {
  index_mark_cache_size: 8 * MIB,
  uncompressed_cache_size: 0,
  index_uncompressed_cache_size: 0,
  query_condition_cache_size: 8 * MIB,
  compiled_expression_cache_size: 8 * MIB,
  mmap_cache_size: 0,
  background_merges_mutations_concurrency_ratio: 2,
  background_move_pool_size: 1,
  background_fetches_pool_size: 1,
  background_common_pool_size: 1,
  background_schedule_pool_size: 8,
  background_message_broker_schedule_pool_size: 1,
  background_distributed_schedule_pool_size: 1,
  max_thread_pool_size: 512,
} as const;

// Merges rewrite one column after another, in small blocks. By default a merge holds all columns of its parts at once,
// which under a steady load of events takes more memory than everything else together.
const MERGE_TREE = {
  merge_max_block_size: 2_048,
  vertical_merge_algorithm_min_rows_to_activate: 1,
  vertical_merge_algorithm_min_columns_to_activate: 1,
  // A merge of 10 parts of a size instead of 5: an event is merged, and its message indexed, less often. With 20, the
  // parts that a query of the present day opens cost it more than ingest saves.
  merge_selector_base: 10,
  // A day that has had no events for ten minutes becomes one part: a query opens every part of every day that it covers.
  min_age_to_force_merge_seconds: 600,
  min_age_to_force_merge_on_partition_only: 1,
} as const;

// Rights of every session, readers and writer: Tailrace's tables only. Table functions that reach files, the network or
// a process are not granted, so the engine itself rejects them.
const GRANTS = [
  `GRANT SELECT, INSERT, ALTER, CREATE, DROP, TRUNCATE, OPTIMIZE ON ${DATABASE}.*`,
  ...['parts', 'mutations', 'columns', 'tables'].map((table) => `GRANT SELECT ON system.${table}`),
  `GRANT BACKUP ON ${DATABASE}.*`,
  'GRANT SELECT ON system.backups',
  'GRANT KILL QUERY ON *.*',
  'GRANT SYSTEM DROP CACHE, SYSTEM JEMALLOC ON *.*',
];

export interface EngineConfig {
  /** Memory of the engine in all. */
  readonly memoryBytesMax: number;
  /** Absolute path of the only folder in which the engine reads and writes backups. */
  readonly backupDir: string;
}

/** Writes the engine's configuration into `dir` and returns the connection arguments to read it. */
export function writeEngineConfig(dir: string, { memoryBytesMax, backupDir }: EngineConfig): string[] {
  makeFolder(dir, 0o700);
  const usersFile = join(dir, 'users.xml');
  const configFile = join(dir, 'config.xml');
  const users = {
    profiles: '<default/>',
    users: `<default><password/><networks><ip>127.0.0.1</ip><ip>::1</ip></networks>
      <profile>default</profile><quota>default</quota>
      <grants>${GRANTS.map((grant) => `<query>${grant}</query>`).join('')}</grants></default>`,
    quotas: '<default/>',
  };
  const { mergeThreads, markCacheBytes } = sizeEngine(readMachine(), memoryBytesMax);
  const server = {
    ...SERVER,
    mark_cache_size: markCacheBytes,
    background_pool_size: mergeThreads,
    merge_tree: toXml(MERGE_TREE),
    max_server_memory_usage: memoryBytesMax,
    users_config: escapeXml(usersFile),
    backups: toXml({ allowed_path: escapeXml(backupDir) }),
  };
  writeFileSync(usersFile, toXml({ clickhouse: toXml(users) }), { mode: 0o600 });
  writeFileSync(configFile, toXml({ clickhouse: toXml(server) }), { mode: 0o600 });
  return [`--config-file=${configFile}`];
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function toXml(elements: Readonly<Record<string, string | number>>): string {
  return Object.entries(elements)
    .map(([name, content]) => `<${name}>${content}</${name}>\n`)
    .join('');
}

/**
 * By default the engine compiles the functions of a statement when it runs for the fourth time. That takes 20 to 30 ms,
 * again after each start, and saves a twentieth of pure arithmetic on millions of rows; sums and counts are as fast
 * without.
 */
const NOT_COMPILED = {
  compile_expressions: 0,
  compile_aggregate_expressions: 0,
  compile_sort_description: 0,
};

/** The channel number of each session but the readers'. */
export const CHANNEL = {
  /** The control session, which runs KILL and heartbeats while the others are busy. */
  control: 0,
  /** The session that reads the engine's system tables. */
  inspector: 1,
  /** The writer, the only session that may change data. */
  writer: 2,
} as const;

// Of the first reader: each has two sessions, of which one runs a statement at a time.
const FIRST_READER = 3;

export function readerChannels(reader: number) {
  const stored = FIRST_READER + 2 * reader;
  return { stored, sandboxed: stored + 1 };
}

export function channelCount(readers: number): number {
  return readerChannels(readers).stored;
}

type Open = EngineRequest & { readonly op: 'open' };

const findStoreDir = (dataDir: string) => join(dataDir, 'store');
const findConfigDir = (dataDir: string) => join(dataDir, 'engine');

/** Whether a data directory has ever had a store of this engine. */
export function hasEmbeddedStore(dataDir: string): boolean {
  return existsSync(findStoreDir(dataDir));
}

/**
 * Writes the engine's configuration, creates the folder of the store, and returns how each session is opened. A setting
 * given with a query sticks to its session, so all are set here.
 */
export function describeSessions(
  dataDir: string,
  options: Pick<EngineConfig, 'memoryBytesMax' | 'backupDir'> & { limits: QueryLimits; env?: EngineEnv },
) {
  const connectionArgs = writeEngineConfig(findConfigDir(dataDir), options);
  const path = findStoreDir(dataDir);
  makeFolder(path, 0o700); // the engine's own mode is world-readable
  const openWith = (settings: EngineSettings): Open => ({
    op: 'open',
    path,
    connectionArgs,
    statements: [`CREATE DATABASE IF NOT EXISTS ${DATABASE}`, `USE ${DATABASE}`, set(settings)],
  });
  const reader = (limits: EngineSettings) =>
    openWith({
      ...readSettings(options.limits),
      ...ALL_FILE_SETTINGS,
      ...NOT_COMPILED,
      ...limits,
      readonly: 1, // last: nothing can be set after it
    });
  const own = openWith({ ...FORMAT_SETTINGS, max_query_size: SQL_BYTES_MAX });
  return {
    env: options.env,
    /** Describes the control session, which is opened first: it creates the database. */
    control: own,
    inspector: openWith({
      ...FORMAT_SETTINGS,
      max_query_size: SQL_BYTES_MAX,
      max_subquery_depth: SUBQUERY_DEPTH_MAX,
    }),
    writer: openWith({
      max_partitions_per_insert_block: 0, // an insert of rows from many days makes a part for each; the default is 100
      deduplicate_insert: 'disable', // inserts with a token enable it
      materialize_skip_indexes_on_insert: 0, // merges create them: new parts are small, and soon merged
      max_query_size: SQL_BYTES_MAX,
    }),
    /** Describes the sessions of a reader: one statement at a time, with its limits, locked read-only. */
    stored: reader({}),
    /** The same for statements with a caller's SQL. */
    sandboxed: reader(SANDBOX_LIMITS),
  };
}

export type EmbeddedSessions = ReturnType<typeof describeSessions>;

function set(settings: EngineSettings): string {
  const written = Object.entries(settings).map(
    ([name, value]) => `${name} = ${typeof value === 'string' ? writeValue(value) : value}`,
  );
  return `SET ${written.join(', ')}`;
}
