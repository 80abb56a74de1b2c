import { findServerAddress } from './config/clickhouse.ts';
import type { Config } from './config/config.ts';
import { type Definitions, type Reading, readDefinitions, refuseFaults } from './definitions/read.ts';
import { createRegistry, type Registry } from './definitions/registry.ts';
import { isManaged } from './definitions/source.ts';
import { openEmbeddedEngine } from './engine/embedded.ts';
import type { Engine } from './engine/engine.ts';
import { withoutTable } from './engine/external.ts';
import { applySchema } from './engine/schema.ts';
import { openServerEngine, type ServerOptions } from './engine/server.ts';
import { lockStore } from './engine/store-lock.ts';
import { isKept, tableNames } from './engine/table.ts';
import { createWriteMarks, type WriteMarks, watchWrites } from './engine/write-marks.ts';
import { verifyQueries } from './query/verify.ts';
import { verifyExternal } from './query/verify-external.ts';

/** The store of the settings, with the tables of its sources: the data directory's, which one process owns, or a server's. */
export interface Store {
  readonly engine: Engine;
  readonly registry: Registry;
  /** What has changed through `engine`. */
  readonly writes: WriteMarks;
  /**
   * Reads the definitions again and swaps them all, or none: on a fault the old ones go on serving.
   *
   * @throws InputError with a line for each fault
   */
  reload(): Promise<void>;
  close(): Promise<void>;
}

type OnReach = ServerOptions['onReach'];

export interface StoreOptions {
  /** See `prepare`. */
  readonly hasExternal?: boolean;
  /** Told when a server cannot be reached any more, and when it can again. */
  readonly onReach?: OnReach;
}

// Of each table: two weeks in which every minute has events, some megabytes in all.
const MARKED_MINUTES_MAX = 20_160;

/**
 * Opens engine and definitions, without HTTP: what the service and the commands on a store have in common.
 *
 * @param owner who is told to be holding the store, such as `tailrace serve (pid 4711)`
 * @throws InputError with every fault of definitions, schema or data directory
 */
export async function openStore(
  config: Config,
  owner: string,
  { hasExternal = true, onReach }: StoreOptions = {},
): Promise<Store> {
  const closing: (() => unknown)[] = [];
  // The store of a server is not in the data directory, and belongs to all who are let in.
  if (config.clickhouseUrl === '') closing.push(lockStore(config.dataDir, owner).release);
  const close = async () => {
    for (const step of closing.splice(0).reverse()) await step();
  };
  try {
    const writes = createWriteMarks(MARKED_MINUTES_MAX);
    const engine = watchWrites(await openEngine(config, onReach), writes);
    closing.push(engine.close);
    const read = async () => await prepare(engine, await readDefinitions(config), hasExternal);
    const registry = createRegistry(await read());
    const reload = async () => registry.replace(await read());
    return { engine, registry, writes, reload, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Makes the tables of the sources and shows the queries to the engine, which can only judge them with the tables there.
 * A set that is then refused leaves the tables as they were.
 *
 * @param hasExternal whether the engine has the existing tables that sources may point at; without them they stand empty
 * @throws InputError with a line for each fault, those of the files and those that the engine finds
 */
export async function prepare(engine: Engine, reading: Reading, hasExternal: boolean): Promise<Definitions> {
  const { definitions, faults, sourcesAreWhole } = reading;
  if (!sourcesAreWhole) refuseFaults(faults);
  const externalFaults = await verifyExternal(engine, definitions.sources, hasExternal);
  if (externalFaults.length > 0) refuseFaults([...faults, ...externalFaults]);
  const sources = hasExternal ? definitions.sources : definitions.sources.map(withoutTable);
  await applySchema(engine, sources, async () =>
    refuseFaults([...faults, ...(await verifyQueries(engine, definitions.endpoints))]),
  );
  // Days leave as a whole, and some time after they might: until then this keeps their old events from every answer.
  await engine.setReadFilters(
    new Map(
      definitions.sources
        .filter(isManaged)
        .flatMap((source) =>
          tableNames(source, engine.cluster).map((name) => [name, isKept(source)] as const),
        ),
    ),
  );
  return definitions;
}

/** The engine that the settings ask for: that of a ClickHouse server, or the embedded one on their data directory. */
export function openEngine(config: Config, onReach?: OnReach): Promise<Engine> {
  const options = {
    readers: config.readers,
    queueMax: config.queryQueueMax,
    queuePerLaneMax: config.queryQueuePerKeyMax,
    queuePerTokenMax: config.queryQueuePerTokenMax,
    queueTimeoutMs: config.queryQueueTimeoutMs,
    limits: {
      timeoutMs: config.queryTimeoutMs,
      memoryBytesMax: config.queryMemoryBytesMax,
      resultBytesMax: config.resultBytesMax,
    },
  };
  const address = findServerAddress(config);
  if (address !== undefined)
    return openServerEngine({ ...options, address, cluster: config.cluster, onReach });
  const { dataDir, engineMemoryBytesMax: memoryBytesMax } = config;
  return openEmbeddedEngine({ ...options, dataDir, memoryBytesMax });
}
