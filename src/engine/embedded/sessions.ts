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
  const write = (name: string, clickhouse: Xml): string => {
    const file = join(dir, name);
    writeFileSync(file, toXml({ clickhouse }), { mode: 0o600 });
    return file;
  };
  const user = {
    ...{ password: '', profile: 'default', quota: 'default' },
    networks: { ip: ['127.0.0.1', '::1'] },
    grants: { query: GRANTS },
  };
  const users = { profiles: { default: {} }, users: { default: user }, quotas: { default: {} } };
  const { mergeThreads, markCacheBytes } = sizeEngine(readMachine(), memoryBytesMax);
  const configFile = write('config.xml', {
    ...SERVER,
    mark_cache_size: markCacheBytes,
    background_pool_size: mergeThreads,
    merge_tree: MERGE_TREE,
    max_server_memory_usage: memoryBytesMax,
    users_config: write('users.xml', users),
    backups: { allowed_path: backupDir },
  });
  return [`--config-file=${configFile}`];
}

/** Elements by name; a list has one for each of its members. */
type Xml = string | number | readonly string[] | { readonly [name: string]: Xml };

function toXml(content: Exclude<Xml, readonly string[]>): string {
  if (typeof content !== 'object') return String(content).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return Object.entries(content)
    .flatMap(([name, value]) => [value].flat().map((one) => `<${name}>${toXml(one)}</${name}>\n`))
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

const FIRST_READER = 3;

/** The channel numbers of each reader's two sessions, of which one runs a statement at a time. */
export function readerChannels(readers: number) {
  return Array.from({ length: readers }, (_, i) => ({
    stored: FIRST_READER + 2 * i,
    /** For statements with a caller's SQL. */
    sandboxed: FIRST_READER + 2 * i + 1,
  }));
}

const findStoreDir = (dataDir: string) => join(dataDir, 'store');

/** Whether a data directory has ever had a store of this engine. */
export function hasEmbeddedStore(dataDir: string): boolean {
  return existsSync(findStoreDir(dataDir));
}

/** How the sessions of the engine process are opened. */
export interface EmbeddedSessions {
  readonly storeDir: string;
  readonly env: EngineEnv;
  /** The request for each channel, in their order. The first creates the database. */
  readonly requests: readonly EngineRequest[];
}

export interface SessionOptions extends EngineConfig {
  readonly dataDir: string;
  /** Queries that run at once. */
  readonly readers: number;
  readonly limits: QueryLimits;
  /** See `startEngineProcess`. */
  readonly env?: EngineEnv;
}

/**
 * Writes the engine's configuration, creates the folder of the store, and returns how each session is opened. A setting
 * given with a query sticks to its session, so all are set here.
 */
export function describeSessions(options: SessionOptions): EmbeddedSessions {
  const { dataDir, readers, limits, env } = options;
  const connectionArgs = writeEngineConfig(join(dataDir, 'engine'), options);
  const path = findStoreDir(dataDir);
  makeFolder(path, 0o700); // the engine's own mode is world-readable
  const openWith = (settings: EngineSettings): EngineRequest => ({
    op: 'open',
    path,
    connectionArgs,
    statements: [`CREATE DATABASE IF NOT EXISTS ${DATABASE}`, `USE ${DATABASE}`, set(settings)],
  });
  const own = openWith({
    ...FORMAT_SETTINGS,
    max_query_size: SQL_BYTES_MAX,
    max_subquery_depth: SUBQUERY_DEPTH_MAX,
  });
  const writer = openWith({
    max_partitions_per_insert_block: 0, // an insert of rows from many days makes a part for each; the default is 100
    deduplicate_insert: 'disable', // inserts enable it
    materialize_skip_indexes_on_insert: 0, // merges create them: new parts are small, and soon merged
    max_query_size: SQL_BYTES_MAX,
  });
  const ofReader = { ...readSettings(limits), ...ALL_FILE_SETTINGS, ...NOT_COMPILED };
  // `readonly` comes last: nothing can be set after it.
  const reader = [
    openWith({ ...ofReader, readonly: 1 }),
    openWith({ ...ofReader, ...SANDBOX_LIMITS, readonly: 1 }),
  ];
  const requests = [own, own, writer, ...Array.from({ length: readers }, () => reader).flat()];
  return { storeDir: path, env, requests };
}

function set(settings: EngineSettings): string {
  const written = Object.entries(settings).map(
    ([name, value]) => `${name} = ${typeof value === 'string' ? writeValue(value) : value}`,
  );
  return `SET ${written.join(', ')}`;
}
