import { findServerAddress } from './config/clickhouse.ts';
import type { Config } from './config/config.ts';
import { keepFolders, type ReadFolders } from './definitions/folders.ts';
import { type Definitions, type Reading, readDefinitions, refuseFaults } from './definitions/read.ts';
import { createRegistry, type Registry } from './definitions/registry.ts';
import { isManaged, type Source } from './definitions/source.ts';
import { type EmbeddedOptions, openEmbeddedEngine } from './engine/embedded.ts';
import type { Engine } from './engine/engine.ts';
import { withoutTable } from './engine/external.ts';
import { applySchema, readTables } from './engine/schema.ts';
import { openServerEngine, type ServerOptions } from './engine/server.ts';
import { lockStore } from './engine/store-lock.ts';
import { readStoreState } from './engine/store-state.ts';
import { writeStoredTables } from './engine/stored-tables.ts';
import { isKept, tableNames } from './engine/table.ts';
import { createWriteMarks, type WriteMarks, watchWrites } from './engine/write-marks.ts';
import { clockFile } from './ingest/retention-file.ts';
import { type ClockGuard, createClockGuard } from './lib/clock-guard.ts';
import { narrowHashes } from './query/narrow-hash.ts';
import { verifyQueries } from './query/verify.ts';
import { verifyDrafts } from './query/verify-draft.ts';
import { verifyExternal } from './query/verify-external.ts';

/** The store of the settings, with the tables of its sources: the data directory's, which one process owns, or a server's. */
export interface Store {
  readonly engine: Engine;
  readonly registry: Registry;
  /** Where the definitions that are served were read from. */
  readonly folders: ReadFolders;
  /** What has changed through `engine`. */
  readonly writes: WriteMarks;
  /** The clock, held against the last time that the store was open. */
  readonly clock: ClockGuard;
  /** Hides what is beyond its retention by the time that the clock guard believes now; to be called when that has changed. */
  followClock(): Promise<void>;
  /**
   * Reads the definitions again and swaps them all, or none: on a fault the old ones go on serving.
   *
   * @throws InputError with a line for each fault
   */
  reload(): Promise<void>;
  close(): Promise<void>;
}

/** What happens to the engine while it is open: the server's part, or the embedded engine's. */
export type EngineWatch = Pick<ServerOptions, 'onReach'> & Pick<EmbeddedOptions, 'onRestart' | 'onSuspect'>;

export interface StoreOptions {
  /** See `prepare`. */
  readonly hasExternal?: boolean;
  readonly watch?: EngineWatch;
  /** ms since the epoch. */
  readonly now?: () => number;
}

// Of each table: two weeks in which every minute has events, some megabytes in all.
const MARKED_MINUTES_MAX = 20_160;
const HOUR_MS = 3_600_000;

/**
 * Opens engine and definitions, without HTTP: what the service and the commands on a store have in common.
 *
 * @param owner who is told to be holding the store, such as `tailrace serve (pid 4711)`
 * @throws InputError with every fault of definitions, schema or data directory
 */
export async function openStore(
  config: Config,
  owner: string,
  { hasExternal = true, watch, now = Date.now }: StoreOptions = {},
): Promise<Store> {
  const closing: (() => unknown)[] = [];
  // The store of a server is not in the data directory, and belongs to all who are let in.
  if (config.clickhouseUrl === '') closing.push(lockStore(config.dataDir, owner).release);
  const close = async () => {
    for (const step of closing.splice(0).reverse()) await step();
  };
  try {
    const writes = createWriteMarks(MARKED_MINUTES_MAX);
    const engine = watchWrites(await openEngine(config, watch), writes);
    closing.push(engine.close);
    const prepareAll = async (next: Reading) => {
      const definitions = await prepare(engine, next, hasExternal);
      if (config.clickhouseUrl === '') writeStoredTables(config.dataDir, await readTables(engine));
      return definitions;
    };
    let reading = await readDefinitions(config);
    const definitions = await prepareAll(reading);
    const clock = await openClock(engine, definitions.sources, { ...config, now });
    await hideOld(engine, definitions.sources, clock);
    const registry = createRegistry(definitions);
    const reload = async () => {
      const next = await readDefinitions(keepFolders(reading.folders));
      const changed = await prepareAll(next);
      await hideOld(engine, changed.sources, clock);
      registry.replace(changed);
      reading = next;
    };
    const followClock = () => hideOld(engine, registry.sources, clock);
    return {
      engine,
      registry,
      writes,
      clock,
      followClock,
      reload,
      close,
      get folders() {
        return reading.folders;
      },
    };
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
  const { definitions, faults, sourcesAreWhole, drafts } = reading;
  if (!sourcesAreWhole) refuseFaults([...faults, ...(await verifyDrafts(engine, drafts, false))]);
  const externalFaults = await verifyExternal(engine, definitions.sources, hasExternal);
  if (externalFaults.length > 0) refuseFaults([...faults, ...externalFaults]);
  const sources = hasExternal ? definitions.sources : definitions.sources.map(withoutTable);
  let narrowed = definitions;
  await applySchema(engine, sources, async () => {
    refuseFaults([
      ...faults,
      ...(await verifyQueries(engine, definitions.endpoints)),
      ...(await verifyDrafts(engine, drafts, true)),
    ]);
    narrowed = await narrowHashes(engine, definitions);
  });
  return narrowed;
}

/**
 * Holds the clock against the last time that the store was open, or, where nobody has noted it, against the newest event. What
 * it is held against is noted at once: with a clock that is wrong, the newest event may be of a wrong time at the next start.
 */
async function openClock(
  engine: Engine,
  sources: readonly Source[],
  options: Pick<Config, 'dataDir' | 'clockJumpHoursMax'> & { now: () => number },
): Promise<ClockGuard> {
  const file = clockFile(options.dataDir);
  const clock = createClockGuard({
    now: options.now,
    ticks: () => performance.now(),
    seenMs: file.read()?.seen_ms ?? (await findNewest(engine, sources)),
    jumpMsMax: options.clockJumpHoursMax * HOUR_MS,
  });
  try {
    file.write({ seen_ms: clock.last().plausibleMs });
  } catch {
    // A full disk keeps nobody from reading; the service notes it again every minute, and logs why it cannot.
  }
  return clock;
}

async function findNewest(engine: Engine, sources: readonly Source[]): Promise<number | undefined> {
  const states = await readStoreState(engine, sources.filter(isManaged));
  const times = [...states.values()].flatMap(({ newestMs }) => newestMs ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

/**
 * Days leave as a whole, and some time after they might: until then this keeps their old events from every answer. While the
 * clock has jumped ahead they are judged by the time that it should show, or every answer would be empty.
 */
async function hideOld(engine: Engine, sources: readonly Source[], clock: ClockGuard): Promise<void> {
  const { state, plausibleMs } = clock.last();
  const atMs = state === 'ahead' ? plausibleMs : undefined;
  const filters = sources
    .filter(isManaged)
    .flatMap((source) =>
      tableNames(source, engine.cluster).map((name) => [name, isKept(source, atMs)] as const),
    );
  await engine.setReadFilters(new Map(filters));
}

/** The engine that the settings ask for: that of a ClickHouse server, or the embedded one on their data directory. */
export function openEngine(config: Config, watch: EngineWatch = {}): Promise<Engine> {
  const options = {
    readers: config.readers,
    queueMax: config.queryQueueMax,
    queuePerLaneMax: config.queryQueuePerKeyMax,
    queueTimeoutMs: config.queryQueueTimeoutMs,
    limits: {
      timeoutMs: config.queryTimeoutMs,
      memoryBytesMax: config.queryMemoryBytesMax,
      resultBytesMax: config.resultBytesMax,
    },
  };
  const address = findServerAddress(config);
  if (address !== undefined)
    return openServerEngine({ ...options, address, cluster: config.cluster, ...watch });
  const { dataDir, engineMemoryBytesMax: memoryBytesMax } = config;
  return openEmbeddedEngine({ ...options, dataDir, memoryBytesMax, ...watch });
}
