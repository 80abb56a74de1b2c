// Longer than other files: the one place that makes every part and hands it to the next, read from top to bottom.
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { type CachedQueries, createCached } from './cache/cached.ts';
import { createRefresh } from './cache/incremental.ts';
import type { SharedFlights } from './cache/shared/flight.ts';
import { type CacheStore, createMemoryStore } from './cache/store.ts';
import { createWarmer, type Warmer } from './cache/warmer.ts';
import type { Config } from './config/config.ts';
import type { Endpoint } from './definitions/endpoint.ts';
import { isManaged } from './definitions/source.ts';
import { InputError } from './errors.ts';
import { buildApp } from './http/app.ts';
import { createMetrics, type Metrics } from './http/metrics.ts';
import { readTlsContext, type TlsContext } from './http/tls.ts';
import { createTraffic, SAMPLE_MS, type Traffic } from './http/traffic.ts';
import { type Ingest, openIngest } from './ingest/ingest.ts';
import { createRequestRecorder, EDGE_SOURCE, type RecordRequest } from './ingest/request-recorder.ts';
import { type RetentionSchedule, scheduleRetention } from './ingest/retention-schedule.ts';
import { type ControlStore, openControlStore } from './keys/control-store.ts';
import { createKeyring, type Keyring } from './keys/keyring.ts';
import { createTokens } from './keys/token.ts';
import { openTokenSecret } from './keys/token-secret.ts';
import { createSeldom } from './lib/seldom.ts';
import { removeLeftSnapshots } from './maintenance/backup/snapshot.ts';
import { createDeletions, type Deletions, FOLLOW_EVERY_MS } from './maintenance/deletion/deletions.ts';
import { createCommands } from './maintenance/socket/commands.ts';
import { type LocalServer, openLocalServer } from './maintenance/socket/server.ts';
import { openShared } from './open-shared.ts';
import { openStore, type Store } from './open-store.ts';
import { createRunner, type Run } from './query/run.ts';
import { createSandbox } from './query/sandbox/sandbox.ts';
import { readVersion } from './version.ts';

export interface Service {
  readonly app: FastifyInstance;
  readonly store: Store;
  readonly keyring: Keyring;
  /** Stops accepting, lets what runs finish within the bound, stops the rest, releases the store. Idempotent. */
  close(): Promise<void>;
}

/** What differs between a real process and a test. */
export interface ServiceOptions {
  readonly logger: FastifyBaseLogger;
  /** Who is told to be holding the store, such as `tailrace serve (pid 4711)`. */
  readonly owner: string;
  /** ms since the epoch. */
  readonly now?: () => number;
  readonly random?: () => number;
}

/** What the parts below have in common. */
interface Parts {
  readonly config: Config;
  readonly store: Store;
  readonly metrics: Metrics;
  readonly logger: FastifyBaseLogger;
  readonly now: () => number;
  readonly random: () => number;
}

const WARM_TICK_MS = 1_000;
const KEYRING_FLUSH_MS = 60_000;
const SAID_AGAIN_MS = 60_000;
// Time for the last answers to leave, after the running requests have been stopped.
const LAST_ANSWERS_MS = 500;

/**
 * Makes a service that is ready to listen, on the data directory of its settings.
 *
 * @throws InputError with every fault of definitions, schema or data directory
 */
export async function createService(config: Config, options: ServiceOptions): Promise<Service> {
  const tls = readTlsContext(config); // before anything is open that would have to be closed again
  const { logger } = options;
  const store = await openStore(config, options.owner, {
    onReach(isUp, error) {
      if (isUp) logger.info('the engine can be reached again');
      else logger.error({ err: error }, 'the engine cannot be reached');
    },
  });
  try {
    return await assemble(store, config, { ...options, tls });
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** The only place that knows every part. Read it top to bottom to see how a request is served. */
async function assemble(
  store: Store,
  config: Config,
  options: ServiceOptions & { readonly tls: TlsContext | undefined },
): Promise<Service> {
  const { logger, tls, now = Date.now, random = Math.random } = options;
  const { engine, registry } = store;
  checkOtlpSource(config, registry);
  checkRecorded(config, registry);
  const control = await openControlStore(config, tellState(logger));
  const secret = openTokenSecret(config.dataDir, config.tokenSecret);
  const tokens = createTokens({ secret, now });
  const keyring = createKeyring({ ...config, store: control, tokens, now });
  const cache = createMemoryStore(config.cacheBytesMax);
  const counts = createMetrics({ engine, cache, control, ingest: () => ingest.committer.gauges() });
  const traffic = createTraffic(counts, now);
  const metrics = tellFailures(counts, traffic);
  const parts: Parts = { config, store, metrics, logger, now, random };
  const shared = openShared(parts, secret);
  const { cached, warmer } = createReadSide(parts, cache, shared?.flights);
  const { ingest, record, retention } = await openWriteSide(parts);
  await retention?.run();
  let stopping = false;
  const notReady = () => (stopping ? 'the service is shutting down' : undefined);
  const { bodies, receive, idempotency, committer } = ingest;
  const operator = await openOperatorSide(parts, control);
  const sandbox = createSandbox(engine, config);
  const forReading = { config, tls, registry, cached, sandbox, keyring, metrics, logger, now, notReady };
  const forConsole = { engine, cache, committer, traffic, version: readVersion() };
  const forSending = { bodies, receive, idempotency, record, sharedRates: shared?.rates };
  const app = await buildApp({ ...forReading, ...forConsole, ...forSending, deletions: operator.deletions });
  const timers = [
    setInterval(() => warmer.tick(), WARM_TICK_MS),
    setInterval(() => void flushKeyring(), KEYRING_FLUSH_MS),
    setInterval(() => void traffic.sample(), SAMPLE_MS),
  ];

  async function flushKeyring(): Promise<void> {
    try {
      await keyring.flush();
    } catch (error) {
      logger.error({ err: error }, 'the use of keys could not be written down');
    }
  }

  let cut: NodeJS.Timeout | undefined;
  /** Answers what still runs that it was stopped; then drops clients that neither finish their request nor read. */
  async function stopRest(): Promise<void> {
    await engine.close();
    cut = setTimeout(() => app.server.closeAllConnections(), LAST_ANSWERS_MS);
  }

  async function close(): Promise<void> {
    stopping = true;
    for (const timer of timers) clearInterval(timer);
    await operator.close();
    const late = setTimeout(() => void stopRest(), config.shutdownTimeoutMs);
    await app.close(); // resolves when every running request has been answered, by the engine's end if need be
    clearTimeout(late);
    clearTimeout(cut);
    await retention?.stop();
    await ingest.close();
    await store.close();
    await warmer.idle();
    await shared?.close();
    await flushKeyring();
    await control.close();
  }

  let closing: Promise<void> | undefined;
  const closeOnce = () => {
    closing ??= close();
    return closing;
  };
  return { app, store, keyring, close: closeOnce };
}

/** What the commands of the shell and the management API do to the store. */
async function openOperatorSide(
  { config, store, logger, now }: Parts,
  control: ControlStore,
): Promise<{ deletions: Deletions; close: () => Promise<void> }> {
  const { engine, registry, followDeletions } = store;
  const how = { now, newId: randomUUID, wait: unheld };
  const deletions = createDeletions({ store, control, ...how });
  const commands = createCommands({ config, engine, registry, deletions, ...how });
  const onError = (error: unknown) => logger.error({ err: error }, 'a command of the shell failed');
  let local: LocalServer | undefined;
  try {
    if (engine.seesEveryWrite) await removeLeftSnapshots(config.dataDir);
    local = await openLocalServer({ dataDir: config.dataDir, handlers: commands, onError });
  } catch (error) {
    logger.warn(
      { err: error },
      'no socket in the data directory: "tailrace backup" and "tailrace delete" cannot reach this service',
    );
  }
  // On a server other processes delete events, too. While it does not answer there is nothing to follow.
  const following = engine.seesEveryWrite
    ? undefined
    : setInterval(() => void followDeletions().catch(() => {}), FOLLOW_EVERY_MS);
  return {
    deletions,
    async close() {
      clearInterval(following);
      await local?.close();
    },
  };
}

/** Does not keep the process from ending. */
async function unheld(ms: number): Promise<void> {
  await wait(ms, undefined, { ref: false });
}

/** Logs once when the control store goes away and once when it is back. */
function tellState(logger: FastifyBaseLogger): (failure?: unknown) => void {
  return (failure) => {
    if (failure === undefined) logger.info('the control store is back');
    else logger.error({ err: failure }, 'the control store is away: keys cannot be read or changed');
  };
}

/** Counts each answer to an Idempotency-Key that could not be looked up or kept, and logs one a minute. */
function tellUnremembered({
  metrics,
  logger,
  now,
}: Pick<Parts, 'metrics' | 'logger' | 'now'>): (error: unknown) => void {
  const seldom = createSeldom(SAID_AGAIN_MS, now);
  return (error) => {
    metrics.unremembered();
    seldom(() =>
      logger.error(
        { err: error },
        'an Idempotency-Key could not be looked up or kept; its events are stored',
      ),
    );
  };
}

/** @throws InputError when the source of OTLP records is none of those that there are */
function checkOtlpSource({ otlpSource }: Config, registry: Store['registry']): void {
  const source = registry.findSource(otlpSource);
  if (source !== undefined && !isManaged(source))
    throw new InputError([
      `TAILRACE_OTLP_SOURCE: ${source.name} reads an existing table (managed: false); name a source that stores events`,
    ]);
  if (otlpSource === '' || source !== undefined) return;
  const known = registry.sources.map((source) => source.name).join(', ');
  throw new InputError([
    `TAILRACE_OTLP_SOURCE: no source is called ${JSON.stringify(otlpSource)}; there are ${known}`,
  ]);
}

/** @throws InputError when requests are to be recorded where nothing can be stored */
function checkRecorded({ recordRequestsAs }: Config, registry: Store['registry']): void {
  const source = registry.findSource(EDGE_SOURCE);
  if (recordRequestsAs === '' || source === undefined || isManaged(source)) return;
  throw new InputError([
    `TAILRACE_RECORD_REQUESTS_AS: requests are events of ${source.name}, which reads an existing table (managed: false)`,
  ]);
}

/** From parameters to answers: runner, cache, warmer. */
function createReadSide(
  parts: Parts,
  cache: CacheStore,
  shared: SharedFlights | undefined,
): { cached: CachedQueries; warmer: Warmer } {
  const { config, store, metrics, logger, now, random } = parts;
  const run = countQueries(createRunner(store.engine, now), metrics);
  const onRefresh = (endpoint: Endpoint, error?: unknown) => {
    metrics.refreshed(endpoint.name, error !== undefined);
    if (error === undefined) return;
    logger.warn({ err: error, endpoint: endpoint.name }, 'a warm answer could not be refreshed');
  };
  const { staleIfErrorSeconds, warmKeysMax } = config;
  const { engine, writes } = store;
  const { seesEveryWrite } = engine;
  const onExtent = metrics.recomputed;
  const refresh = createRefresh({ run, writes, seesEveryWrite, now, engineNow: Date.now, onExtent });
  const cached = createCached({
    run,
    refresh,
    store: cache,
    shared,
    now,
    random,
    staleIfErrorSeconds,
    warmKeysMax,
    onRefresh,
  });
  const warmer = createWarmer({
    store: cache,
    cached,
    endpoints: () => store.registry.endpoints,
    now,
    concurrencyMax: config.warmConcurrencyMax,
    onRefresh,
  });
  return { cached, warmer };
}

interface WriteSide {
  readonly ingest: Ingest;
  readonly record: RecordRequest | undefined;
  /** Of the embedded store; on a server the tables' own TTL drops the days. */
  readonly retention: RetentionSchedule | undefined;
}

/** From events to the store, and out of it when they are old. */
async function openWriteSide({ config, store, metrics, logger, now }: Parts): Promise<WriteSide> {
  const { engine, registry } = store;
  const ingest = await openIngest({
    engine,
    now,
    limits: config,
    onCommit(source, rows, error) {
      metrics.committed(source, rows, error !== undefined);
      if (error !== undefined) logger.error({ err: error, source, rows }, 'events could not be stored');
    },
    onRefused: metrics.refused,
    onUnremembered: tellUnremembered({ metrics, logger, now }),
  });
  const { committer } = ingest;
  const project = config.recordRequestsAs;
  const onDropped = metrics.requestNotRecorded;
  const retention = engine.seesEveryWrite
    ? createRetention({ config, store, metrics, logger, now })
    : undefined;
  const record =
    project === '' ? undefined : createRequestRecorder({ registry, committer, project, now, onDropped });
  return { ingest, record, retention };
}

type RetentionParts = Omit<Parts, 'random'>;

/** Days that are too old, or too many, leave the store. */
function createRetention({ config, store, metrics, logger, now }: RetentionParts): RetentionSchedule {
  const { engine, registry } = store;
  return scheduleRetention({
    engine,
    sources: () => registry.sources.filter(isManaged),
    now,
    storeBytesMax: config.storeBytesMax,
    onDropped(day) {
      metrics.dayDropped(day.reason);
      logger.info(day, 'a day of events was dropped');
    },
    onError: (error) => logger.error({ err: error }, 'retention could not be enforced'),
  });
}

/** Failures are counted, and the last of each endpoint is remembered. */
function tellFailures(metrics: Metrics, traffic: Traffic): Metrics {
  return {
    ...metrics,
    failed(endpoint, code) {
      metrics.failed(endpoint, code);
      traffic.failed(endpoint, code);
    },
  };
}

function countQueries(run: Run, metrics: Metrics): Run {
  return async (endpoint, values, options) => {
    metrics.queryStarted(endpoint.name);
    const answer = await run(endpoint, values, options);
    metrics.queryDone(endpoint.name, answer.engineMs / 1000);
    return answer;
  };
}
