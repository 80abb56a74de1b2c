import { hash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { verifyAlerts } from '../alerts/verify.ts';
import { findServerAddress } from '../config/clickhouse.ts';
import type { Config } from '../config/config.ts';
import { keepFolders, type ReadFolders } from '../definitions/folders.ts';
import { type Definitions, type LoadResult, readDefinitions } from '../definitions/read.ts';
import { createRegistry, type Registry } from '../definitions/registry.ts';
import { isManaged } from '../definitions/source.ts';
import { type EmbeddedOptions, openEmbeddedEngine } from '../engine/embedded/embedded.ts';
import type { Engine } from '../engine/engine.ts';
import { readDeletionState } from '../engine/mutations.ts';
import { applySchema, readTables, withoutTable } from '../engine/schema.ts';
import type { ServerOptions } from '../engine/server/server.ts';
import {
  checkServerStore,
  checkStoreVersion,
  lockStore,
  markServerStore,
  writeStoredTables,
} from '../engine/store-file.ts';
import { type WriteMarks, watchWrites } from '../engine/write-marks.ts';
import { type Fault, rejectFaults } from '../errors.ts';
import { verifyFilters } from '../ingest/filter/filter.ts';
import { createLock } from '../lib/abort.ts';
import { verifySavedSearches, verifySearches } from '../search/verify.ts';
import { verifyDashboards } from '../verify/dashboards.ts';
import { scopeHashes } from '../verify/disallowed-syntax.ts';
import { verifyDrafts, verifyQueries } from '../verify/verify.ts';
import { verifyExternal, verifyRollups } from '../verify/verify-sources.ts';

/** The configured store with the tables of its sources: the data directory's, which one process owns, or a server's. */
export interface Core {
  readonly engine: Engine;
  readonly registry: Registry;
  /** The folders that the served definitions were read from. */
  readonly folders: ReadFolders;
  /** Marks of the changes through `engine`. */
  readonly writes: WriteMarks;
  /**
   * Reads the definitions again and swaps them all, or none: on a fault the old ones are still served.
   * @throws InputError with a line for each fault
   */
  reload(): Promise<void>;
  /** Runs `work`, which changes files of the definitions, while no reload reads them; it may have them reloaded itself. */
  edit<T>(work: (reload: () => Promise<void>) => Promise<T>): Promise<T>;
  /**
   * Finds out whether events have been deleted, by any process: then no earlier answer is served again.
   * @returns whether deletions have begun or ended since the last call
   */
  followDeletions(): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Reads a file that is reloaded with the definitions, such as that of the receivers.
 * @returns a line for each fault; `take` is called if neither it nor the definitions have one
 */
export type Companion = (
  definitions: Definitions,
) => Promise<{ readonly faults: readonly string[]; readonly take: () => void }>;

export interface CoreOptions {
  /** Whether the engine has the existing tables that sources may point at; without them they are treated as empty. */
  readonly hasExternal?: boolean;
  readonly companion?: Companion;
  readonly watch?: EngineWatch;
}

const NO_COMPANION: Companion = async () => ({ faults: [], take() {} });

/**
 * Opens engine and definitions, without HTTP: the common part of the service and the commands on a store.
 * @param owner named to other processes that find the store locked, such as `tailrace serve (pid 4711)`
 * @throws InputError with every fault of definitions, schema or data directory
 */
export async function openCore(
  config: Config,
  owner: string,
  { hasExternal = true, companion = NO_COMPANION, watch }: CoreOptions = {},
): Promise<Core> {
  await using opened = new AsyncDisposableStack();
  // The store of a server is not in the data directory, and belongs to every process that the server admits.
  const isEmbedded = config.clickhouseUrl === '';
  if (isEmbedded) opened.defer(lockStore(config.dataDir, owner).release);
  if (isEmbedded) checkStoreVersion(config.dataDir); // before the engine opens it
  const { engine, writes } = watchWrites(await openEngine(config, watch));
  opened.defer(engine.close);

  /** Checks definitions and what is read with them, and takes both if neither has a fault. */
  const take = async (read: LoadResult) => {
    const { faults: others, take: takeOthers } = await companion(read.definitions);
    const definitions = await prepare(engine, read, { hasExternal, others });
    if (isEmbedded) writeStoredTables(config.dataDir, await readTables(engine));
    else await markServerStore(engine, definitions.sources.filter(isManaged));
    takeOthers();
    return { definitions, folders: read.folders };
  };
  const first = await readDefinitions(config);
  if (!isEmbedded) await checkServerStore(engine); // its version is in its tables
  let served = await take(first);
  let deletions = await readDeletionState(engine);
  const current = () => withDeletions(served.definitions, deletions);
  const registry = createRegistry(current());

  const acquire = createLock();
  const reload = async () => {
    served = await take(await readDefinitions(keepFolders(served.folders)));
    registry.replace(current());
  };
  const edit: Core['edit'] = async (work) => {
    const release = await acquire();
    return await work(reload).finally(release);
  };

  const open = opened.move();
  return {
    ...{ engine, registry, writes, edit },
    get folders() {
      return served.folders;
    },
    reload: () => edit((now) => now()),
    async followDeletions() {
      const found = await readDeletionState(engine);
      if (found === deletions) return false;
      deletions = found;
      registry.replace(current());
      return true;
    },
    close: () => open.disposeAsync(),
  };
}

/**
 * Changes the hashes of the definitions when a deletion of events begins or ends. A hash is part of every name under
 * which an answer is kept, here and in Redis, so that no answer with deleted events is found again, not even one
 * whose query is under way.
 */
function withDeletions(definitions: Definitions, deletions: string): Definitions {
  const endpoints = definitions.endpoints.map((endpoint) => ({
    ...endpoint,
    hash: hash('sha256', `${endpoint.hash} ${deletions}`),
  }));
  return { ...definitions, endpoints };
}

/**
 * Creates the tables of the sources and has the engine check the queries, which needs the tables. A set that is then
 * rejected leaves the tables as they were.
 * @throws InputError with a line for each fault, those of the files and those that the engine finds
 */
export async function prepare(
  engine: Engine,
  reading: LoadResult,
  { hasExternal, others = [] }: { readonly hasExternal: boolean; readonly others?: readonly string[] },
): Promise<Definitions> {
  const { definitions, faults, sourcesAreWhole, drafts } = reading;
  const reject = (found: readonly Fault[]) => rejectFaults([...faults, ...found], others);
  const draftFaults = await verifyDrafts(engine, drafts);
  if (!sourcesAreWhole) reject(draftFaults);
  const sourceFaults = [
    ...(await verifyExternal(engine, definitions.sources, hasExternal)),
    ...(await verifyRollups(engine, definitions.sources)),
    ...(await verifyFilters(definitions.sources)),
  ];
  if (sourceFaults.length > 0) reject(sourceFaults);
  const sources = hasExternal ? definitions.sources : definitions.sources.map(withoutTable);
  const { endpoints } = definitions;
  let narrowed = definitions;
  await applySchema(engine, sources, async () => {
    reject([
      ...(await verifyQueries(engine, endpoints)),
      ...verifySearches(endpoints),
      ...verifySavedSearches(definitions.searches, definitions.sources),
      ...verifyAlerts(definitions.alerts, { endpoints, areAll: faults.length === 0 }),
      ...verifyDashboards(definitions.dashboards, endpoints),
      ...draftFaults,
    ]);
    narrowed = await scopeHashes(engine, definitions);
  });
  return narrowed;
}

/** Callbacks for events of the open engine: those of a server, or of the embedded engine. */
export type EngineWatch = Pick<ServerOptions, 'onReach'> & Pick<EmbeddedOptions, 'onRestart' | 'onSuspect'>;

/**
 * Bounds of the fair queue, beyond which a query is rejected with 503: its answer would come too late. So many that a page
 * with many panels waits, and so few for a key or a token that others find room.
 */
const QUEUE = { queueMax: 1_000, queuePerLaneMax: 100, queuePerTokenMax: 20 };
const QUEUE_TIMEOUT_MS = 5_000;
// An answer is held whole, in the engine and in this process; longer ones are read page by page.
const RESULT_BYTES_MAX = 64 * 1024 * 1024;
// Share of the engine's memory: a query beyond it fails before it takes what others need.
const QUERY_MEMORY_SHARE = 1 / 4;

/** Opens the engine of the settings: that of a ClickHouse server, or the embedded one on their data directory. */
export async function openEngine(config: Config, watch: EngineWatch = {}): Promise<Engine> {
  const { readers, queueTimeoutMs = QUEUE_TIMEOUT_MS, queryTimeoutMs: timeoutMs } = config;
  const { dataDir, engineMemoryBytesMax: memoryBytesMax, engineEnv: env } = config;
  const queryBytesMax = config.queryMemoryBytesMax ?? Math.floor(memoryBytesMax * QUERY_MEMORY_SHARE);
  const { resultBytesMax = RESULT_BYTES_MAX } = config;
  const limits = { timeoutMs, memoryBytesMax: queryBytesMax, resultBytesMax };
  const options = { readers, ...QUEUE, queueTimeoutMs, limits };
  const address = findServerAddress(config);
  if (address !== undefined) {
    const { openServerEngine } = await import('../engine/server/server.ts'); // its client is loaded only if it is used
    return await openServerEngine({ ...options, address, cluster: address.cluster, ...watch });
  }
  const backupDir = findBackupDir(config);
  return await openEmbeddedEngine({ ...options, dataDir, backupDir, memoryBytesMax, env, ...watch });
}

/** Returns the absolute path of the folder of backups. */
export function findBackupDir({ backupDir, dataDir }: Pick<Config, 'backupDir' | 'dataDir'>): string {
  return resolve(backupDir || join(dataDir, 'backups'));
}
