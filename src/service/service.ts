// Longer than other files: the one place that creates every part and passes it to the next. Read it from top to bottom.

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { type AlertTestParts, testAlert } from '../alerts/replay.ts';
import { type CachedQueries, createCached } from '../cache/cached.ts';
import type { SharedAnswers } from '../cache/shared.ts';
import { createMemoryStore } from '../cache/store.ts';
import { createWarmer } from '../cache/warmer.ts';
import type { Config } from '../config/config.ts';
import type { Endpoint } from '../definitions/endpoint.ts';
import type { Engine, EngineGauges } from '../engine/engine.ts';
import { queryTimeout } from '../engine/gate.ts';
import { keyOfLane } from '../engine/lanes.ts';
import { createFilledTables } from '../engine/store-state.ts';
import { TailraceError } from '../errors.ts';
import { buildApp } from '../http/app.ts';
import { createOpenApi, describeTool } from '../http/openapi/document.ts';
import { findConsole } from '../http/routes/console.ts';
import type { RouteParts } from '../http/routes/index.ts';
import type { ProcessActions } from '../http/routes/local.ts';
import type { OverviewParts } from '../http/routes/overview.ts';
import { readTlsContext } from '../http/tls.ts';
import { createIngest, type Ingest } from '../ingest/ingest.ts';
import { createProjectWarning } from '../ingest/project-warning.ts';
import type { SyslogListener } from '../ingest/protocols/syslog/listen.ts';
import { createRejectedLog } from '../ingest/rejected.ts';
import type { Usage } from '../ingest/usage/usage.ts';
import type { ControlStore } from '../keys/control-store.ts';
import { createKeyring, type Keyring } from '../keys/keyring.ts';
import { openControlStore } from '../keys/open-control-store.ts';
import { createTokens, openTokenSecret } from '../keys/token.ts';
import { createReserve, SHARE_BYTES } from '../lib/reserve.ts';
import { createAlertTest } from '../management/alert-test.ts';
import { createProjects } from '../management/definitions.ts';
import { type Cursors, createCursors } from '../query/cursor.ts';
import { createNewestFirst } from '../query/newest-first.ts';
import { createPageRun } from '../query/page.ts';
import { findOwner } from '../query/pins.ts';
import { createPrepared } from '../query/prepared.ts';
import { createRunner, isOpaquePage, type Run } from '../query/run.ts';
import { createTypedFirst } from '../query/typed-first.ts';
import type { Retention } from '../retention/retention.ts';
import { createSandbox } from '../sandbox/sandbox.ts';
import { createDescribe } from '../serve/describe.ts';
import { createResolve } from '../serve/resolve.ts';
import { createSearchSteps } from '../serve/resolve-search.ts';
import { createResolveTail } from '../serve/resolve-tail.ts';
import { createTails, type Tails } from '../tail/tails.ts';
import { registerGauges } from '../telemetry/gauges.ts';
import { createKeyTraffic, createMetrics, type Metrics } from '../telemetry/metrics.ts';
import { createRejectedRequestLog } from '../telemetry/rejected-requests.ts';
import { createTraffic, SAMPLE_MS } from '../telemetry/traffic.ts';
import { createCatalogue } from '../workbench/catalogue.ts';
import { createHistory } from '../workbench/history.ts';
import { createSave, editCopies, type SavedEntry } from '../workbench/save.ts';
import { createTestRun, type RunTests } from '../workbench/test-run.ts';
import { createCompanions } from './companions.ts';
import { keepAudit } from './keep-audit.ts';
import { openAlerts } from './open-alerts.ts';
import { type Core, openCore } from './open-core.ts';
import type { EngineWatch } from './open-engine.ts';
import type { GrpcParts } from './open-grpc.ts';
import { createNotices, observeStore } from './open-observe.ts';
import { createServiceDeletions } from './open-operator.ts';
import { openPeople } from './open-people.ts';
import { startRetention } from './open-retention.ts';
import { startRollups } from './open-rollups.ts';
import type { SyslogParts } from './open-syslog.ts';
import { createStartTask } from './open-tasks.ts';
import { keepUsage, openUsage } from './open-usage.ts';
import type { Parts, StartTask } from './parts.ts';

export interface Service {
  readonly app: FastifyInstance;
  readonly core: Core;
  readonly keyring: Keyring;
  readonly retention: Retention;
  /** Open ports for syslog. */
  readonly syslog: readonly Pick<SyslogListener, 'address' | 'port'>[];
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
  /** The key of the commands on this machine. */
  readonly localKey?: string;
  /** Whether listener processes accept the connections of `app`; see `listen`. */
  readonly isRelayed?: boolean;
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
// Time to send the last answers, after the running requests have been stopped.
const LAST_ANSWERS_MS = 500;

/**
 * Creates a service that is ready to listen, on the data directory of its settings. The only place that knows every part: read
 * it top to bottom to see how a request is served.
 *
 * @throws InputError with every fault of definitions, schema or data directory; nothing is then left open
 */
export async function createService(config: Config, options: ServiceOptions): Promise<Service> {
  const { logger, owner, now = Date.now, random = Math.random, isRelayed = false } = options;
  const tls = readTlsContext(config);
  await using opened = new AsyncDisposableStack();
  const { receivers, quotas, roles, read: companion } = createCompanions(config, options.environment);
  const reserve = createReserve(config.dataDir);
  await reserve.free(SHARE_BYTES);
  const core = await openCore(config, owner, { watch: logEngine(logger), companion });
  opened.defer(core.close);
  const { engine } = core;
  const metrics = createMetrics(now);
  const startTask = createStartTask({ metrics, logger, now, opened });
  const { control, keyring, secret } = await openKeys(options.localKey, {
    ...{ config, logger, now, startTask, opened },
  });
  const { storing, ...observed } = await observeStore(core, { ...config, reserve, now });
  const traffic = createTraffic(metrics, now);
  const parts: Parts = { config, core, metrics, storing, reserve, logger, now, random, startTask, opened };
  const people = openPeople(parts, { control, keyring, secret, roles });
  const shared = await openReplicas(parts, secret);
  const alerts = await openAlerts(parts, control, receivers);
  const cursors = createCursors(secret);
  const readParts = { cursors, usage: await openUsage(parts, quotas), shared: shared?.answers };
  const { cache, cached, warmer, tails } = await openReadSide(parts, readParts);
  const watched = createWatched(now);
  const { ingest, retention, rollupRowsLeft } = await openWriteSide(parts, readParts.usage, watched);
  keepAudit(parts, control, ingest.committer);
  const syslog = await openSyslogPorts(parts, { receive: ingest.receive, tls });
  const forget = watched.rejectedEvents.forget;
  const { certainMs } = retention;
  const deletions = createServiceDeletions(parts, { ingest, control, forget, quotas, certainMs });
  let isStopping = false;
  const notReady = () => (isStopping ? 'the service is shutting down' : ENGINE_FAULTS[engine.gauges().state]);
  registerGauges(metrics.registry, {
    engine,
    cache,
    control,
    tails,
    ingest: () => ({ ...ingest.committer.gauges(), waitMs: ingest.backpressure.waitMs }),
    rollupRowsLeft,
    storing,
    ...observed,
  });
  const routes = createRouteParts(parts, {
    ...{ cached, control, cursors, tails, cache, ingest, keyring, people, alerts },
    ...{
      actions: options.actions,
      deletions,
      traffic,
      notReady,
      readSizes: observed.readSizes,
      version: observed.build.version,
    },
    workbench: createWorkbench(parts, { control, alerts }, options.runTests),
    readNotices: createNotices({ retention, storing, alerts, roles }),
    admin: watched,
  });
  const serving = {
    ...{ config, tls, isRelayed, keyring, metrics, logger, now, routes },
    ...{ ...people, ...watched },
  };
  const app = await buildApp({ ...serving, sharedRates: shared?.rates });
  opened.defer(() => closeApp(app, engine, config.shutdownTimeoutMs));
  await openGrpcPort(parts, { app, tls });
  startTask({ name: 'warming', everyMs: WARM_TICK_MS, run: warmer.tick });
  startTails(startTask, tails);
  startTask({ name: 'traffic', everyMs: SAMPLE_MS, run: traffic.sample });
  const running = opened.move();
  let closing: Promise<void> | undefined;
  const close = () => {
    isStopping = true;
    closing ??= running.disposeAsync();
    return closing;
  };
  return { app, core, keyring, retention, syslog, close };
}

/** Creates what an operator reads about callers and senders; see management/admin-view.ts. */
function createWatched(now: () => number) {
  return {
    startedMs: now(),
    keyTraffic: createKeyTraffic(),
    rejectedRequests: createRejectedRequestLog(now),
    rejectedEvents: createRejectedLog(now),
  };
}

/** Opens a port for gRPC, whose code is loaded only if it is used. */
async function openGrpcPort(parts: Parts, options: GrpcParts): Promise<void> {
  if (parts.config.otlpGrpcPort === 0) return;
  const { openGrpc } = await import('./open-grpc.ts');
  await openGrpc(parts, options);
}

/** As `openGrpcPort`, for syslog. */
async function openSyslogPorts(parts: Parts, options: SyslogParts): Promise<Service['syslog']> {
  if (parts.config.syslog === '') return [];
  const { openSyslog } = await import('./open-syslog.ts');
  return await openSyslog(parts, options);
}

function startTails(startTask: StartTask, tails: Tails): void {
  startTask({ name: 'tails', everyMs: TAIL_TICK_MS, run: tails.tick });
  startTask({ name: 'tail-keys', everyMs: TAIL_CHECK_MS, run: tails.checkKeys });
  startTask({ name: 'tail-keep-alive', everyMs: TAIL_KEEP_ALIVE_MS, run: tails.keepAlive });
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

/** Opens the keys, their audit trail, and the secret that signs tokens. */
async function openKeys(
  localKey: string | undefined,
  {
    config,
    logger,
    now,
    startTask,
    opened,
  }: Pick<Parts, 'config' | 'logger' | 'now' | 'startTask' | 'opened'>,
) {
  const control = await openControlStore(config, (failure) => {
    if (failure === undefined) logger.info('the control store is available again');
    else logger.error({ err: failure }, 'the control store is unavailable: keys cannot be read or changed');
  });
  opened.defer(control.close);
  const secret = openTokenSecret(config.dataDir, config.tokenSecret);
  const keyring = createKeyring({
    ...config,
    localKey,
    store: control,
    tokens: createTokens({ secret, now }),
    now,
  });
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

interface ReadSideParts {
  readonly cursors: Cursors;
  readonly usage: Usage;
  readonly shared: SharedAnswers | undefined;
}

/** Creates the parts from parameters to answers: runner, cache, warmer, live tails. */
async function openReadSide(parts: Parts, { cursors, usage, shared }: ReadSideParts) {
  const { config, core, metrics, logger, now, random, opened } = parts;
  const { engine, writes, registry } = core;
  const { seesEveryWrite } = engine;
  const onRefresh = (endpoint: Endpoint, error?: unknown) => {
    metrics.refreshed(endpoint.name, error !== undefined);
    if (error === undefined) return;
    logger.warn({ err: error, endpoint: endpoint.name }, 'a warm answer could not be refreshed');
  };
  const cache = createMemoryStore(config.cacheBytesMax);
  const counted = countQueries(createRunner(engine, now), { metrics, usage });
  const run = createPagedRun(counted, parts);
  const keeping = { store: cache, shared, random, onRefresh };
  const cached = createCached({ ...config, run, now, ...keeping });
  const endpoints = () => registry.endpoints;
  const warmer = createWarmer({ store: cache, cached, endpoints, now, onRefresh });
  opened.defer(async () => {
    await engine.close(); // otherwise a refresh could run for its whole time
    await warmer.idle();
  });
  const tails = createTails({
    ...{ run, writes, seesEveryWrite, cursors, registry, now, limits: config, onEnded: metrics.tailEnded },
    onFailure: (error, endpoint) => logger.warn({ err: error, endpoint }, 'a live tail could not be read'),
  });
  return { cache, cached, warmer, tails };
}

/** Adds the steps for pages and for searches that read a sample; other questions take none of them. */
function createPagedRun(run: Run, { config: { queryTimeoutMs: timeoutMs }, now }: Parts): Run {
  const late = () => queryTimeout(timeoutMs);
  const runNewest = createNewestFirst(run, { now, timeoutMs, late });
  const runOpaque = createPageRun(runNewest);
  const runTyped = createTypedFirst(run, { timeoutMs, late });
  const runPrepared = createPrepared(run, { now, timeoutMs, late });
  return (question, how) => {
    const { pages, typedFirst, prepare } = question.endpoint;
    if (prepare !== undefined) return runPrepared(question, how);
    if (pages === undefined) return (typedFirst === undefined ? run : runTyped)(question, how);
    return (isOpaquePage(question) ? runOpaque : runNewest)(question, how);
  };
}

const HAVE_RUN: ReadonlySet<string> = new Set(['query_timeout', 'query_failed']);

/** Counts the queries of the engine, by endpoint and for quotas; those of a spent quota are rejected. */
function countQueries(run: Run, { metrics, usage }: { metrics: Metrics; usage: Usage }): Run {
  return async (question, options) => {
    const { endpoint, values } = question;
    const { name } = endpoint;
    const asker = { key: keyOfLane(options?.lane ?? ''), project: findOwner(endpoint, values) ?? '' };
    usage.checkQuery(asker);
    metrics.queryStarted(name);
    const startMs = performance.now();
    const answer = await run(question, options).catch((error: unknown) => {
      // Otherwise a key could use all cores with queries that time out. Others, such as those rejected by the queue, have not run.
      const hasRun = error instanceof TailraceError && HAVE_RUN.has(error.code);
      if (hasRun) usage.countQuery(asker, performance.now() - startMs);
      throw error;
    });
    usage.countQuery(asker, answer.coreMs ?? 0);
    metrics.queryDone(name, answer.engineMs / 1000);
    return answer;
  };
}

const WITHOUT_PROJECT =
  'events without a project were stored, which no key that pins a project can read; name it in the event, in X-Project or in TAILRACE_DEFAULT_PROJECT';

/** Creates the parts that store events, and delete old ones. */
async function openWriteSide(
  parts: Parts,
  usage: Usage,
  { rejectedEvents }: Pick<ReturnType<typeof createWatched>, 'rejectedEvents'>,
) {
  const { config, core, metrics, storing, logger, now, opened } = parts;
  const { engine } = core;
  const warnOfProjects = createProjectWarning({
    now,
    warn: (events) => logger.warn({ events }, WITHOUT_PROJECT),
  });
  const retention = await startRetention(parts); // first: it knows which time is certain
  const ingest = createIngest({
    ...{ engine, now, config, usage, ageAt: retention.certainMs },
    requireRoom: storing.requireRoom,
    onCommit(source, rows, error) {
      metrics.committed(source, rows, error !== undefined);
      storing.committed(error);
      if (error !== undefined) logger.error({ err: error, source, rows }, 'events could not be stored');
    },
    onOverload: metrics.overloaded,
    onRefused: metrics.refused,
    onRejected: rejectedEvents.add,
    onWithoutProject(source, count) {
      metrics.withoutProject(source, count);
      warnOfProjects(source, count);
    },
    onRepaired: metrics.repaired,
    onFiltered: metrics.filtered,
  });
  opened.defer(ingest.close);
  const { committer } = ingest;
  keepUsage(parts, usage, committer);
  return { ingest, retention, rollupRowsLeft: startRollups(parts) };
}

/** One set of parts for all routes of the workbench. */
type WorkbenchRoutes = RouteParts['workbench'] &
  RouteParts['workbenchAlerts'] &
  RouteParts['workbenchDashboards'] &
  RouteParts['workbenchHistory'];

type Served = Pick<RouteParts['local'], 'actions'> &
  Pick<OverviewParts, 'cache' | 'traffic' | 'notReady' | 'readNotices' | 'readSizes'> &
  Pick<RouteParts['deletions'], 'deletions'> &
  Record<'workbench', WorkbenchRoutes> & {
    cached: CachedQueries;
    alerts: AlertTestParts;
    control: ControlStore;
    cursors: Cursors;
    tails: Tails;
    ingest: Ingest;
    keyring: Keyring;
    people: ReturnType<typeof openPeople>;
    version: string;
    admin: Omit<RouteParts['admin'], 'keyring' | 'registry' | 'engine' | 'now'>;
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
  { control, alerts: { receivers } }: { control: ControlStore; alerts: AlertTestParts },
  runTests: RunTests = async () => [],
): WorkbenchRoutes {
  const { engine, registry, edit } = core;
  const parts = {
    ...{
      config,
      engine,
      registry,
      edit: editCopies({
        edit,
        folders: () => core.folders,
        onCopied: (dir) =>
          logger.warn(
            { folder: dir },
            'the shipped endpoints and dashboards are copied; they are served from there',
          ),
      }),
      runTests: createTestRun(runTests, { folders: () => core.folders }),
      receivers,
      folders: () => core.folders,
      newId: randomUUID,
    },
    run: createRunner(engine, now),
    readCatalogue: createCatalogue(engine, registry),
    history: createHistory({
      ...{ dir: join(config.dataDir, 'workbench'), now, newId: randomUUID },
      onFailure: (error) => logger.error({ err: error }, 'a save of the workbench is not in its history'),
    }),
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
  {
    cached,
    control,
    cursors,
    tails,
    ingest,
    keyring,
    people,
    deletions,
    alerts,
    actions,
    workbench,
    version,
    admin,
    ...live
  }: Served,
): RouteParts {
  const { engine, registry, writes } = core;
  const { receive, committer, backpressure } = ingest;
  const { notReady, readNotices } = live;
  const { authenticator, sessions, signIn, readAmbient } = people;
  const alertParts = { control, registry, now, newId: randomUUID };
  const sending = { config, registry, receive, backpressure };
  const sandbox = createSandbox(engine, { now });
  const onIgnoredSql = createIgnoredSqlWarning(logger);
  const asking = {
    config,
    registry,
    cached,
    metrics,
    ...createResolve({ registry, cursors, sandbox, onIgnoredSql }),
  };
  const describe = createDescribe(cursors);
  return {
    query: {
      ...{ ...asking, tails, authenticator, describe },
      resolveTail: createResolveTail({ registry, cursors }),
    },
    search: {
      ...{ config, cached, metrics, describe, tails, authenticator, now },
      run: workbench.run,
      ...createSearchSteps({
        registry,
        cursors,
        limits: config,
        now,
        filled: createFilledTables(engine, writes),
      }),
    },
    mcp: { ...asking, keyring, version, describeTool },
    ingest: sending,
    otlp: sending,
    protocols: sending,
    deletions: { deletions, registry },
    local: {
      ...{ engine, actions },
      runAlertTest: (test, signal) => testAlert(alerts, test, signal),
    },
    keys: { keyring, registry, now },
    tokens: { keyring, registry, now },
    sessions: { sessions, control, version, now },
    auth: { config, signIn, readAmbient, version },
    alerts: { ...alertParts, testAlert: createAlertTest({ command: alerts, parts: alertParts }) },
    dashboards: { registry },
    definitions: {
      ...{ registry, version, listProjects: createProjects(engine, registry, now) },
      studio: config.studio === '1',
    },
    overview: { config, engine, registry, now, committer, ...live },
    admin: { ...admin, keyring, registry, engine, now },
    workbench,
    workbenchAlerts: workbench,
    workbenchDashboards: workbench,
    workbenchHistory: workbench,
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
