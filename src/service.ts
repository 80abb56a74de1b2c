// Longer than other files: the one place that makes every part and hands it to the next, read from top to bottom.
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { type CachedQueries, createCached } from './cache/cached.ts';
import { createRefresh } from './cache/incremental.ts';
import type { SharedFlights } from './cache/shared/flight.ts';
import { type CacheStore, createMemoryStore } from './cache/store.ts';
import { createWarmer, type Warmer } from './cache/warmer.ts';
import type { Config } from './config/config.ts';
import type { Endpoint } from './definitions/endpoint.ts';
import { isManaged } from './definitions/source.ts';
import type { EngineGauges } from './engine/engine.ts';
import { InputError } from './errors.ts';
import { buildApp } from './http/app.ts';
import { createOpenApi } from './http/openapi/document.ts';
import { findConsole } from './http/routes/console.ts';
import type { RouteParts } from './http/routes/index.ts';
import type { OverviewParts } from './http/routes/overview.ts';
import { readTlsContext, type TlsContext } from './http/tls.ts';
import { type Ingest, type IngestOptions, openIngest } from './ingest/ingest.ts';
import { createProjectWarning } from './ingest/project-warning.ts';
import { createRequestRecorder, EDGE_SOURCE, type RecordRequest } from './ingest/request-recorder.ts';
import type { StoringWatch } from './ingest/storing-watch.ts';
import { openControlStore } from './keys/control-store.ts';
import { createKeyring, type Keyring } from './keys/keyring.ts';
import { createTokens } from './keys/token.ts';
import { openTokenSecret } from './keys/token-secret.ts';
import { createThrottle } from './lib/throttle.ts';
import { createProjects } from './management/projects.ts';
import { createNotices, observeStore } from './open-observe.ts';
import { openOperatorSide } from './open-operator.ts';
import { ageAt, createServiceRetention } from './open-retention.ts';
import { type EngineWatch, openStore, type Store } from './open-store.ts';
import { createRunner, type Run } from './query/run.ts';
import { createSandbox } from './query/sandbox/sandbox.ts';
import type { RetentionSchedule } from './retention/schedule.ts';
import { createDescribe } from './serve/describe.ts';
import { createResolve } from './serve/resolve.ts';
import { registerGauges } from './telemetry/gauges.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';
import { createTraffic, SAMPLE_MS } from './telemetry/traffic.ts';

export interface Service {
  readonly app: FastifyInstance;
  readonly store: Store;
  readonly keyring: Keyring;
  readonly retention: RetentionSchedule;
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
  readonly storing: StoringWatch;
  readonly logger: FastifyBaseLogger;
  readonly now: () => number;
  readonly random: () => number;
}

// Of a server that cannot be reached the other replicas know no more, and what is cached is still served.
const ENGINE_FAULTS: Readonly<Record<EngineGauges['state'], string | undefined>> = {
  up: undefined,
  unreachable: undefined,
  restarting: 'the engine is restarting',
  lost: 'the engine cannot be started; see the log',
};
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
    watch: logEngine(logger),
    ...(options.now !== undefined && { now: options.now }),
  });
  try {
    return await assemble(store, config, { ...options, tls });
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Logs when a server comes and goes, and when the embedded engine had to be started again, and under which queries. */
function logEngine(logger: FastifyBaseLogger): EngineWatch {
  return {
    onReach(isUp, error) {
      if (isUp) logger.info('the engine can be reached again');
      else logger.error({ err: error }, 'the engine cannot be reached');
    },
    onRestart({ error, ...restart }) {
      if (error === undefined) logger.error(restart, 'the engine process ended and is started again');
      else logger.error({ err: error, ...restart }, 'the engine process could not be started; trying again');
    },
    onSuspect({ origin, lane }) {
      logger.error({ query: origin, key: lane }, 'a query ran when the engine process ended');
    },
  };
}

/** The only place that knows every part. Read it top to bottom to see how a request is served. */
async function assemble(
  store: Store,
  config: Config,
  options: ServiceOptions & { readonly tls: TlsContext | undefined },
): Promise<Service> {
  const { logger, tls, now = Date.now, random = Math.random } = options;
  const { engine, registry } = store;
  checkSettings(config, registry);
  const control = await openControlStore(config, logControlStore(logger));
  const secret = openTokenSecret(config.dataDir, config.tokenSecret);
  const keyring = createKeyring({ ...config, store: control, tokens: createTokens({ secret, now }), now });
  const cache = createMemoryStore(config.cacheBytesMax);
  const { storing, ...observed } = await observeStore(store, config, now);
  const metrics = createMetrics(now);
  const traffic = createTraffic(metrics, now);
  const parts: Parts = { config, store, metrics, storing, logger, now, random };
  const shared = config.redisUrl === '' ? undefined : await openReplicas(parts, secret);
  const { cached, warmer } = createReadSide(parts, cache, shared?.flights);
  const { ingest, record, retention } = await openWriteSide(parts);
  await retention.run();
  const flushKeyring = createKeyringFlush(keyring, logger);
  let stopping = false;
  const notReady = () => (stopping ? 'the service is shutting down' : ENGINE_FAULTS[engine.gauges().state]);
  registerGauges(metrics.registry, { engine, cache, control, ingest: ingest.committer.gauges, ...observed });
  const operator = await openOperatorSide(parts, control);
  const readNotices = createNotices(retention, storing);
  const { readSizes, build } = observed;
  const routes = createRouteParts(parts, {
    ...{ cached, keyring, ingest, cache, traffic, notReady, readNotices, readSizes },
    ...{ deletions: operator.deletions, version: build.version },
  });
  const sharedRates = shared?.rates;
  const app = await buildApp({ config, tls, keyring, metrics, record, sharedRates, logger, now, routes });
  const timers = [
    setInterval(() => warmer.tick(), WARM_TICK_MS),
    setInterval(() => void flushKeyring(), KEYRING_FLUSH_MS),
    setInterval(() => traffic.sample(), SAMPLE_MS),
  ];

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
    await retention.stop();
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
  return { app, store, keyring, retention, close: closeOnce };
}

/** What all replicas share. The Redis client is loaded only if it is used. */
async function openReplicas(parts: Parts, secret: Uint8Array) {
  const { openShared } = await import('./open-shared.ts');
  return openShared(parts, secret);
}

type Served = Pick<OverviewParts, 'cache' | 'traffic' | 'notReady' | 'readNotices' | 'readSizes'> &
  Pick<RouteParts['deletions'], 'deletions'> & {
    cached: CachedQueries;
    ingest: Ingest;
    keyring: Keyring;
    version: string;
  };

/** Hands each group of routes what it works with. */
function createRouteParts(
  { config, store, metrics, now }: Parts,
  { cached, cache, ingest, keyring, deletions, traffic, notReady, readNotices, readSizes, version }: Served,
): RouteParts {
  const { engine, registry } = store;
  const { receive, committer } = ingest;
  const sending = { config, registry, receive };
  const live = { traffic, cache, committer, notReady, readNotices, readSizes };
  return {
    query: {
      ...{ config, registry, cached, metrics, describe: createDescribe() },
      ...createResolve({
        registry,
        sandbox: createSandbox(engine, config),
        parameterBytesMax: config.parameterBytesMax,
      }),
    },
    ingest: sending,
    otlp: sending,
    deletions: { deletions, registry },
    keys: { keyring, registry, now },
    tokens: { keyring, registry, now },
    definitions: { registry, version, listProjects: createProjects({ engine, registry, now }) },
    overview: { config, engine, registry, now, ...live },
    about: {
      ...{ engine, metrics, registry, notReady, readNotices },
      describe: (endpoints) => createOpenApi({ version, endpoints }),
    },
    console: findConsole(),
  };
}

/** Writes down the use of keys; a failure is logged, and tried again the next time. */
function createKeyringFlush(keyring: Keyring, logger: FastifyBaseLogger): () => Promise<void> {
  return async () => {
    try {
      await keyring.flush();
    } catch (error) {
      logger.error({ err: error }, 'the use of keys could not be written down');
    }
  };
}

/** Logs once when the control store becomes unavailable and once when it is back. */
function logControlStore(logger: FastifyBaseLogger): (failure?: unknown) => void {
  return (failure) => {
    if (failure === undefined) logger.info('the control store is back');
    else logger.error({ err: failure }, 'the control store is unavailable: keys cannot be read or changed');
  };
}

/** Counts each response to an Idempotency-Key that could not be looked up or kept, and logs one a minute. */
function reportUnremembered({
  metrics,
  logger,
  now,
}: Pick<Parts, 'metrics' | 'logger' | 'now'>): (error: unknown) => void {
  const throttle = createThrottle(SAID_AGAIN_MS, now);
  return (error) => {
    metrics.unremembered();
    throttle(() =>
      logger.error(
        { err: error },
        'an Idempotency-Key could not be looked up or kept; its events are stored',
      ),
    );
  };
}

/** Counts each event without a project, and warns of them once a minute. */
function reportWithoutProject({
  metrics,
  logger,
  now,
}: Pick<Parts, 'metrics' | 'logger' | 'now'>): IngestOptions['onWithoutProject'] {
  const text =
    'events without a project were stored, which no key that pins a project can read; name it in the event, in X-Project or in TAILRACE_DEFAULT_PROJECT';
  const warning = createProjectWarning({ now, warn: (events) => logger.warn({ events }, text) });
  return (source, count) => {
    metrics.withoutProject(source, count);
    warning(source, count);
  };
}

/** What the settings say of sources. @throws InputError when there is no such source, or it cannot take events */
export function checkSettings(config: Config, registry: Store['registry']): void {
  checkOtlpSource(config, registry);
  checkRecorded(config, registry);
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
  const engineNow = () => ageAt(store.clock, Date.now);
  const refresh = createRefresh({ run, writes, seesEveryWrite, now, engineNow, onExtent });
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
  readonly retention: RetentionSchedule;
}

/** From events to the store, and out of it when they are old. */
async function openWriteSide({ config, store, metrics, storing, logger, now }: Parts): Promise<WriteSide> {
  const { engine, registry } = store;
  const ingest = await openIngest({
    engine,
    now,
    ageAt: () => ageAt(store.clock, now),
    config,
    onCommit(source, rows, error) {
      metrics.committed(source, rows, error !== undefined);
      storing.committed(error);
      if (error !== undefined) logger.error({ err: error, source, rows }, 'events could not be stored');
    },
    onRefused: metrics.refused,
    onWithoutProject: reportWithoutProject({ metrics, logger, now }),
    onUnremembered: reportUnremembered({ metrics, logger, now }),
  });
  const { committer } = ingest;
  const project = config.recordRequestsAs;
  const onDropped = metrics.requestNotRecorded;
  const retention = createServiceRetention({ config, store, metrics, logger });
  const record =
    project === '' ? undefined : createRequestRecorder({ registry, committer, project, now, onDropped });
  return { ingest, record, retention };
}

function countQueries(run: Run, metrics: Metrics): Run {
  return async (question, options) => {
    const { name } = question.endpoint;
    metrics.queryStarted(name);
    const answer = await run(question, options);
    metrics.queryDone(name, answer.engineMs / 1000);
    return answer;
  };
}
