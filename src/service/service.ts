// Longer than other files: the one place that creates every part and passes it to the next. Read it from top to bottom.
import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { type CachedQueries, createCached } from '../cache/cached.ts';
import { type Basis, createRefresh } from '../cache/incremental.ts';
import type { SharedFlights } from '../cache/shared/flight.ts';
import { createMemoryStore } from '../cache/store.ts';
import { createWarmer } from '../cache/warmer.ts';
import type { Config } from '../config/config.ts';
import type { Endpoint } from '../definitions/endpoint.ts';
import { isManaged } from '../definitions/source.ts';
import type { Engine, EngineGauges } from '../engine/engine.ts';
import { queryTimeout } from '../engine/gate.ts';
import { InputError } from '../errors.ts';
import { buildApp } from '../http/app.ts';
import { createOpenApi } from '../http/openapi/document.ts';
import { describeTool } from '../http/openapi/tool.ts';
import { findConsole } from '../http/routes/console.ts';
import type { RouteParts } from '../http/routes/index.ts';
import type { OverviewParts } from '../http/routes/overview.ts';
import { readTlsContext } from '../http/tls.ts';
import { type Ingest, openIngest } from '../ingest/ingest.ts';
import { createProjectWarning } from '../ingest/project-warning.ts';
import { createRequestRecorder, EDGE_SOURCE } from '../ingest/request-recorder.ts';
import type { ControlStore } from '../keys/control-store.ts';
import { createKeyring, type Keyring } from '../keys/keyring.ts';
import { openControlStore } from '../keys/open-control-store.ts';
import { createTokens } from '../keys/token.ts';
import { openTokenSecret } from '../keys/token-secret.ts';
import { createThrottle } from '../lib/throttle.ts';
import type { ProcessActions } from '../maintenance/socket/commands.ts';
import { createProjects } from '../management/projects.ts';
import { type Cursors, createCursors } from '../query/cursor.ts';
import { createNewestFirst } from '../query/newest-first.ts';
import { createPageRun } from '../query/page.ts';
import { type Answer, createRunner, isOpaquePage, type Run } from '../query/run.ts';
import { createTypedFirst } from '../query/typed-first.ts';
import type { RetentionSchedule } from '../retention/schedule.ts';
import { createSandbox } from '../sandbox/sandbox.ts';
import { createDescribe } from '../serve/describe.ts';
import { createResolve } from '../serve/resolve.ts';
import { createSearchSteps } from '../serve/resolve-search.ts';
import { createResolveTail } from '../serve/resolve-tail.ts';
import { createTails, type Tails } from '../tail/tails.ts';
import { registerGauges } from '../telemetry/gauges.ts';
import { createMetrics, type Metrics } from '../telemetry/metrics.ts';
import { createTraffic, SAMPLE_MS } from '../telemetry/traffic.ts';
import { createCatalogue } from '../workbench/catalogue.ts';
import { createSave, type RunTests, type SavedEntry } from '../workbench/save.ts';
import { openAlerts } from './open-alerts.ts';
import { type Core, type EngineWatch, openCore } from './open-core.ts';
import { createNotices, observeStore } from './open-observe.ts';
import { createServiceDeletions, openOperatorSide } from './open-operator.ts';
import { startRetention } from './open-retention.ts';
import { startRollups } from './open-rollups.ts';
import { openStored, startSaving } from './open-stored.ts';
import { createStartTask } from './open-tasks.ts';
import type { Parts } from './parts.ts';

export interface Service {
  readonly app: FastifyInstance;
  readonly core: Core;
  readonly keyring: Keyring;
  readonly retention: RetentionSchedule;
  /** Stops accepting, lets running work finish within the bound, stops the rest, releases the store. Idempotent. */
  close(): Promise<void>;
}

/** The parts that differ between a real process and a test. */
export interface ServiceOptions {
  readonly logger: FastifyBaseLogger;
  /** Named to other processes that find the store locked, such as `tailrace serve (pid 4711)`. */
  readonly owner: string;
  /** ms since the epoch. */
  readonly now?: () => number;
  readonly random?: () => number;
  /** Tests of an endpoint that the workbench has saved; without it none are run. */
  readonly runTests?: RunTests;
  /** Values for `${NAME}` in the file of the receivers. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** For `tailrace reload` and `tailrace stop`. */
  readonly actions?: ProcessActions;
}

// If a server cannot be reached, it cannot be reached from other replicas either, and cached answers are still served.
const ENGINE_FAULTS: Readonly<Record<EngineGauges['state'], string | undefined>> = {
  up: undefined,
  unreachable: undefined,
  restarting: 'the engine is restarting',
  lost: 'the engine cannot be started; see the log',
};
const WARM_TICK_MS = 1_000;
const TAIL_TICK_MS = 250;
const TAIL_CHECK_MS = 1_000;
const TAIL_KEEP_ALIVE_MS = 15_000;
const KEYRING_FLUSH_MS = 60_000;
const LOG_AGAIN_MS = 60_000;
// Time to send the last answers, after the running requests have been stopped.
const LAST_ANSWERS_MS = 500;

/**
 * Creates a service that is ready to listen, on the data directory of its settings. The only place that knows every part: read
 * it top to bottom to see how a request is served.
 *
 * @throws InputError with every fault of definitions, schema or data directory; nothing is then left open
 */
export async function createService(config: Config, options: ServiceOptions): Promise<Service> {
  const { logger, owner, now = Date.now, random = Math.random } = options;
  const tls = readTlsContext(config);
  await using opened = new AsyncDisposableStack();
  const core = await openCore(config, owner, { watch: logEngine(logger), now });
  opened.defer(core.close);
  const { engine, registry } = core;
  checkSettings(config, registry);
  const metrics = createMetrics(now);
  const startTask = createStartTask({ metrics, logger, now, opened });
  const { control, keyring, secret } = await openKeys(config, { logger, now, startTask, opened });
  const { storing, ...observed } = await observeStore(core, config, now);
  const traffic = createTraffic(metrics, now);
  const parts: Parts = { config, core, metrics, storing, logger, now, random, startTask, opened };
  const shared = await openReplicas(parts, secret);
  const alerts = await openAlerts(parts, control, options.environment ?? {});
  const cursors = createCursors(secret);
  const { cache, cached, warmer, tails, stored } = await openReadSide(parts, cursors, shared?.flights);
  const { ingest, record, retention, rollupRowsLeft } = await openWriteSide(parts);
  const deletions = createServiceDeletions(parts, { committer: ingest.committer, control, stored });
  let isStopping = false;
  const notReady = () => (isStopping ? 'the service is shutting down' : ENGINE_FAULTS[engine.gauges().state]);
  registerGauges(metrics.registry, {
    engine,
    cache,
    control,
    tails,
    ingest: ingest.committer.gauges,
    rollupRowsLeft,
    ...observed,
  });
  const routes = createRouteParts(parts, {
    ...{ cached, control, cursors, tails, cache, ingest, keyring },
    ...{ deletions, traffic, notReady, readSizes: observed.readSizes, version: observed.build.version },
    workbench: createWorkbench(parts, control, options.runTests),
    readNotices: createNotices(retention, storing),
  });
  const app = await buildApp({
    config,
    tls,
    keyring,
    metrics,
    record,
    sharedRates: shared?.rates,
    logger,
    now,
    routes,
  });
  opened.defer(() => closeApp(app, engine, config.shutdownTimeoutMs));
  await openOperatorSide(parts, { deletions, actions: options.actions, alerts });
  startTask({ name: 'warming', everyMs: WARM_TICK_MS, run: warmer.tick });
  startTask({ name: 'tails', everyMs: TAIL_TICK_MS, run: tails.tick });
  startTask({ name: 'tail-keys', everyMs: TAIL_CHECK_MS, run: tails.checkKeys });
  startTask({ name: 'tail-keep-alive', everyMs: TAIL_KEEP_ALIVE_MS, run: tails.keepAlive });
  startTask({ name: 'traffic', everyMs: SAMPLE_MS, run: traffic.sample });
  const running = opened.move();
  let closing: Promise<void> | undefined;
  const close = () => {
    isStopping = true;
    closing ??= running.disposeAsync();
    return closing;
  };
  return { app, core, keyring, retention, close };
}

/** Logs when a server becomes unavailable or available again, and when the embedded engine was started again, with the running queries. */
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

/** Checks the sources that settings name. @throws InputError if there is no such source, or it stores no events */
export function checkSettings({ otlpSource, recordRequestsAs }: Config, registry: Core['registry']): void {
  const otlp = registry.findSource(otlpSource);
  if (otlpSource !== '' && otlp === undefined) {
    const known = registry.sources.map(({ name }) => name).join(', ');
    throw new InputError([
      `TAILRACE_OTLP_SOURCE: no source is called ${JSON.stringify(otlpSource)}; there are ${known}`,
    ]);
  }
  if (otlp !== undefined && !isManaged(otlp))
    throw new InputError([
      `TAILRACE_OTLP_SOURCE: ${otlp.name} reads an existing table (managed: false); name a source that stores events`,
    ]);
  const edge = registry.findSource(EDGE_SOURCE);
  if (recordRequestsAs !== '' && edge !== undefined && !isManaged(edge))
    throw new InputError([
      `TAILRACE_RECORD_REQUESTS_AS: requests are events of ${edge.name}, which reads an existing table (managed: false)`,
    ]);
}

/** Opens the keys, their audit trail, and the secret that signs tokens. */
async function openKeys(
  config: Config,
  { logger, now, startTask, opened }: Pick<Parts, 'logger' | 'now' | 'startTask' | 'opened'>,
) {
  const control = await openControlStore(config, (failure) => {
    if (failure === undefined) logger.info('the control store is available again');
    else logger.error({ err: failure }, 'the control store is unavailable: keys cannot be read or changed');
  });
  opened.defer(control.close);
  const secret = openTokenSecret(config.dataDir, config.tokenSecret);
  const keyring = createKeyring({ ...config, store: control, tokens: createTokens({ secret, now }), now });
  opened.defer(() => flushing.trigger()); // once the task has stopped: the last uses
  const flushing = startTask({ name: 'key-use', everyMs: KEYRING_FLUSH_MS, run: keyring.flush });
  return { control, keyring, secret };
}

/** Opens what all replicas share; `undefined` without Redis, whose client is loaded only if it is used. */
async function openReplicas(parts: Parts, secret: Uint8Array) {
  if (parts.config.redisUrl === '') return undefined;
  const { openShared } = await import('./open-shared.ts');
  const shared = openShared(parts, secret);
  parts.opened.defer(shared.close);
  return shared;
}

/** Creates the parts from parameters to answers: runner, cache, warmer, live tails. */
async function openReadSide(parts: Parts, cursors: Cursors, shared: SharedFlights | undefined) {
  const { config, core, metrics, logger, now, random, opened } = parts;
  const { engine, writes, registry } = core;
  const { seesEveryWrite } = engine;
  const onRefresh = (endpoint: Endpoint, error?: unknown) => {
    metrics.refreshed(endpoint.name, error !== undefined);
    if (error === undefined) return;
    logger.warn({ err: error, endpoint: endpoint.name }, 'a warm answer could not be refreshed');
  };
  const cache = createMemoryStore(config.cacheBytesMax);
  const engineNow = () => core.clock.correctedMs() ?? Date.now();
  const run = createPagedRun(countQueries(createRunner(engine, now, engineNow), metrics), parts);
  const onExtent = metrics.recomputed;
  const bases = new WeakMap<Answer, Basis>();
  const stored = await openStored(parts, bases);
  const timing = { now, engineNow, onExtent, onBasis: stored?.note };
  const refresh = createRefresh({ run, writes, seesEveryWrite, bases, ...timing });
  const keeping = { store: cache, findStored: stored?.find, shared, random, onRefresh };
  const cached = createCached({ ...config, run, refresh, now, ...keeping });
  const endpoints = () => registry.endpoints;
  const concurrencyMax = config.warmConcurrencyMax;
  const warmer = createWarmer({ store: cache, cached, endpoints, now, concurrencyMax, onRefresh });
  opened.defer(async () => {
    await engine.close(); // otherwise a refresh could run for its whole time
    await warmer.idle();
  });
  startSaving(parts, stored);
  const tails = createTails({
    ...{ run, writes, seesEveryWrite, cursors, registry, now, limits: config, onEnded: metrics.tailEnded },
    onFailure: (error, endpoint) => logger.warn({ err: error, endpoint }, 'a live tail could not be read'),
  });
  return { cache, cached, warmer, tails, stored };
}

/** Adds the steps for pages; other questions take none of them. */
function createPagedRun(run: Run, { config: { queryTimeoutMs: timeoutMs }, now }: Parts): Run {
  const late = () => queryTimeout(timeoutMs);
  const runNewest = createNewestFirst(run, { now, timeoutMs, late });
  const runOpaque = createPageRun(runNewest);
  const runTyped = createTypedFirst(run, { timeoutMs, late });
  return (question, how) => {
    const { pages, typedFirst } = question.endpoint;
    if (pages === undefined) return (typedFirst === undefined ? run : runTyped)(question, how);
    return (isOpaquePage(question) ? runOpaque : runNewest)(question, how);
  };
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

const WITHOUT_PROJECT =
  'events without a project were stored, which no key that pins a project can read; name it in the event, in X-Project or in TAILRACE_DEFAULT_PROJECT';

/** Creates the parts that store events, and delete old ones. */
async function openWriteSide(parts: Parts) {
  const { config, core, metrics, storing, logger, now, opened } = parts;
  const { engine, registry, clock } = core;
  const warnOfProjects = createProjectWarning({
    now,
    warn: (events) => logger.warn({ events }, WITHOUT_PROJECT),
  });
  const throttleUnremembered = createThrottle(LOG_AGAIN_MS, now);
  const ingest = await openIngest({
    ...{ engine, now, config, ageAt: () => clock.correctedMs() ?? now() },
    onCommit(source, rows, error) {
      metrics.committed(source, rows, error !== undefined);
      storing.committed(error);
      if (error !== undefined) logger.error({ err: error, source, rows }, 'events could not be stored');
    },
    onRefused: metrics.refused,
    onWithoutProject(source, count) {
      metrics.withoutProject(source, count);
      warnOfProjects(source, count);
    },
    onRepaired: metrics.repaired,
    onUnremembered(error) {
      metrics.unremembered();
      const text = 'an Idempotency-Key could not be looked up or kept; its events are stored';
      throttleUnremembered(() => logger.error({ err: error }, text));
    },
  });
  opened.defer(ingest.close);
  const { committer } = ingest;
  const project = config.recordRequestsAs;
  const onDropped = metrics.requestNotRecorded;
  const record =
    project === '' ? undefined : createRequestRecorder({ registry, committer, project, now, onDropped });
  const retention = await startRetention(parts);
  return { ingest, record, retention, rollupRowsLeft: startRollups(parts) };
}

type Served = Pick<OverviewParts, 'cache' | 'traffic' | 'notReady' | 'readNotices' | 'readSizes'> &
  Pick<RouteParts['deletions'], 'deletions'> &
  Pick<RouteParts, 'workbench'> & {
    cached: CachedQueries;
    control: ControlStore;
    cursors: Cursors;
    tails: Tails;
    ingest: Ingest;
    keyring: Keyring;
    version: string;
  };

/** Logs once that a caller sends SQL where it is ignored: Studio would show the same rows on every page. */
function createIgnoredSqlWarning(logger: FastifyBaseLogger): (endpoint: Endpoint) => void {
  let isLogged = false;
  return ({ name }) => {
    if (isLogged) return;
    isLogged = true;
    const text = `requests to ${name} send sql, which is ignored: it has no query sandboxing; if they come from Supabase Studio, set TAILRACE_STUDIO=1 (docs/supabase.md)`;
    logger.warn({ endpoint: name }, text);
  };
}

function createWorkbench(
  { config, core, logger, now }: Parts,
  control: ControlStore,
  runTests: RunTests = async () => [],
): RouteParts['workbench'] {
  const { engine, registry, edit } = core;
  const parts = {
    ...{ config, engine, registry, edit, runTests, folders: () => core.folders, newId: randomUUID },
    run: createRunner(engine, now, () => core.clock.correctedMs() ?? Date.now()),
    readCatalogue: createCatalogue(engine, registry),
    audit: (entry: SavedEntry) =>
      control
        .record({ used: [], entries: [{ ...entry, atMs: now(), count: 1 }] })
        .catch((error) =>
          logger.error({ err: error, ...entry }, 'a saved endpoint is not in the audit trail'),
        ),
  };
  return { ...parts, save: createSave(parts) };
}

/** Passes to each group of routes the parts that it needs. */
function createRouteParts(
  { config, core, metrics, logger, now }: Parts,
  { cached, control, cursors, tails, ingest, keyring, deletions, workbench, version, ...live }: Served,
): RouteParts {
  const { engine, registry } = core;
  const { receive, committer } = ingest;
  const { notReady, readNotices } = live;
  const { parameterBytesMax } = config;
  const sending = { config, registry, receive };
  const sandbox = createSandbox(engine, { ...config, now });
  const onIgnoredSql = createIgnoredSqlWarning(logger);
  const asking = {
    config,
    registry,
    cached,
    metrics,
    ...createResolve({ registry, cursors, sandbox, parameterBytesMax, onIgnoredSql }),
  };
  const describe = createDescribe(cursors);
  return {
    query: {
      ...{ ...asking, tails, keyring, describe },
      resolveTail: createResolveTail({ registry, cursors, parameterBytesMax }),
    },
    search: {
      ...{ cached, metrics, describe, tails, keyring },
      ...createSearchSteps({ registry, cursors, limits: config, now }),
    },
    savedSearches: { control, now, newId: randomUUID },
    mcp: { ...asking, keyring, version, describeTool },
    ingest: sending,
    otlp: sending,
    deletions: { deletions, registry },
    keys: { keyring, registry, now },
    tokens: { keyring, registry, now },
    alerts: { control, registry, parameterBytesMax, now, newId: randomUUID },
    definitions: {
      ...{ registry, version, listProjects: createProjects(engine, registry, now) },
      studio: config.studio === '1',
    },
    overview: { config, engine, registry, now, committer, ...live },
    workbench,
    about: {
      ...{ engine, metrics, registry, notReady, readNotices },
      describe: (endpoints) =>
        createOpenApi({ version, endpoints: endpoints ?? [], hasKey: endpoints !== undefined }),
    },
    console: findConsole(),
  };
}

/** Resolves when every running request has its response; after the bound, with the failure of the closed engine. */
async function closeApp(app: FastifyInstance, engine: Engine, shutdownTimeoutMs: number): Promise<void> {
  let cut: NodeJS.Timeout | undefined;
  const late = setTimeout(async () => {
    await engine.close();
    // Clients that neither finish their request nor read.
    cut = setTimeout(() => app.server.closeAllConnections(), LAST_ANSWERS_MS);
  }, shutdownTimeoutMs);
  await app.close();
  clearTimeout(late);
  clearTimeout(cut);
}
