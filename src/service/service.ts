import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import { isManaged } from '../definitions/source.ts';
import type { Engine, EngineGauges } from '../engine/engine.ts';
import { createStoreSizes, readEngineVersion, readStoreState } from '../engine/store-state.ts';
import { buildApp } from '../http/app.ts';
import { readTlsContext } from '../http/tls.ts';
import { createStoringWatch } from '../ingest/backpressure.ts';
import { createRejectedLog } from '../ingest/rejected.ts';
import type { Keyring } from '../keys/keyring.ts';
import { readFreeBytes } from '../lib/file.ts';
import { createReserve, SHARE_BYTES } from '../lib/reserve.ts';
import type { Retention } from '../maintenance/retention.ts';
import type { Notice } from '../management/admin-view.ts';
import { createCursors } from '../query/cursor.ts';
import { createMetrics, registerGauges } from '../telemetry/metrics.ts';
import { createRejectedRequestLog } from '../telemetry/rejected-requests.ts';
import { createTraffic, SAMPLE_MS } from '../telemetry/traffic.ts';
import { readVersion } from '../version.ts';
import { openAlerts, type ServedAlerts } from './alerts.ts';
import { openKeys, openPeople } from './callers.ts';
import { type Context, createStartTask, type ServiceOptions } from './context.ts';
import { type Core, type EngineWatch, openCore } from './open-core.ts';
import { createOperatorFiles } from './operator-files.ts';
import { keepAudit, openUsage } from './own-events.ts';
import { openReading, openReplicas } from './reading.ts';
import { createAppParts } from './routes.ts';
import { openDeletions, openStoring } from './storing.ts';

export interface Service {
  readonly app: FastifyInstance;
  readonly core: Core;
  readonly keyring: Keyring;
  readonly retention: Retention;
  /** Stops accepting, lets running work finish within the bound, stops the rest, releases the store. Idempotent. */
  close(): Promise<void>;
}

// If a server cannot be reached, it cannot be reached from other replicas either, and cached answers are still served.
const ENGINE_FAULTS: Readonly<Record<EngineGauges['state'], string | undefined>> = {
  up: undefined,
  unreachable: undefined,
  restarting: 'the engine is restarting',
  lost: 'the engine cannot be started; see the log',
};
/** How long requests may run after SIGTERM; then they are stopped. Supervisors give a service at least 30 s to end. */
const SHUTDOWN_MS_MAX = 10_000;
// Time to send the last answers, after the running requests have been stopped.
const LAST_ANSWERS_MS = 500;

/**
 * Creates a service that is ready to listen, on the data directory of its settings. The only place that knows every
 * part: read it top to bottom to see what a service consists of. It closes what it opened, in reverse order.
 * @throws InputError with every fault of definitions, schema or data directory; nothing is then left open
 */
export async function createService(config: Config, options: ServiceOptions): Promise<Service> {
  await using opened = new AsyncDisposableStack();
  const context = await openContext(config, options, opened);
  const { core, keyring, metrics, now, startTask } = context;
  await options.prepare?.(core);
  const startedMs = now();
  const traffic = createTraffic(metrics, now);
  const rejectedEvents = createRejectedLog(now);
  const people = openPeople(context);
  const replicas = await openReplicas(context);
  const alerts = await openAlerts(context);
  const cursors = createCursors(context.secret);
  const usage = await openUsage(context);
  const reading = openReading(context, { cursors, usage, shared: replicas?.answers });
  const { ingest, retention, rollupRowsLeft } = await openStoring(context, { usage, rejectedEvents });
  keepAudit(context, ingest.committer);
  const deletions = openDeletions(context, { ingest, retention, rejectedEvents });

  let isStopping = false;
  const notReady = () =>
    isStopping ? 'the service is shutting down' : ENGINE_FAULTS[core.engine.gauges().state];
  registerGauges(metrics.registry, {
    ...context,
    engine: core.engine,
    sources: () => core.registry.sources.filter(isManaged),
    ...{ ...reading, ...ingest, retention, rollupRowsLeft },
    isRedisUp: replicas?.isUp,
  });
  const parts = createAppParts(context, {
    ...{ ...people, ...reading, ...ingest, alerts, cursors, deletions },
    ...{ startedMs, traffic, rejectedEvents, rejectedRequests: createRejectedRequestLog(now) },
    notReady,
    readNotices: createNotices(context, alerts, retention),
    sharedRates: replicas?.rates,
  });
  const app = await buildApp(parts);
  opened.defer(() => closeApp(app, core.engine, config.shutdownTimeoutMs ?? SHUTDOWN_MS_MAX));
  const { warmer, tails } = reading;
  startTask({ name: 'warming', everyMs: 1_000, run: warmer.tick });
  startTask({ name: 'tails', everyMs: 250, run: tails.tick });
  startTask({ name: 'tail-keys', everyMs: 1_000, run: tails.checkKeys });
  startTask({ name: 'tail-keep-alive', everyMs: 15_000, run: tails.keepAlive });
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

/** Opens what all other parts are created from: files, store, keys. */
async function openContext(
  config: Config,
  options: ServiceOptions,
  opened: AsyncDisposableStack,
): Promise<Context> {
  const { logger, owner, now = Date.now, random = Math.random } = options;
  const tls = readTlsContext(config);
  const files = createOperatorFiles(config, options.environment);
  const reserve = createReserve(config.dataDir);
  await reserve.free(SHARE_BYTES);
  const core = await openCore(config, owner, { watch: logEngine(logger), companion: files.read });
  opened.defer(core.close);
  const { engine, registry } = core;
  const metrics = createMetrics(now);
  const startTask = createStartTask({ metrics, logger, now, opened });
  const base = { config, options, tls, logger, now, random, opened, startTask };
  const keys = await openKeys(base, options.localKey);
  const freeBytes = () => readFreeBytes(config.dataDir);
  return {
    ...base,
    ...keys,
    files,
    core,
    metrics,
    reserve,
    storing: createStoringWatch({
      readFreeBytes: freeBytes,
      isSpent: engine.seesEveryWrite ? reserve.isSpent : () => false, // a server has its own disk
      now,
    }),
    readSizes: createStoreSizes(() => readStoreState(engine, registry.sources), now),
    readFreeBytes: freeBytes,
    build: {
      version: readVersion(),
      engine: await readEngineVersion(engine),
      node: process.version.slice(1),
    },
  };
}

/** Logs when a server becomes unavailable or available again, and restarts of the embedded engine with their queries. */
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

const BROKEN_ROLES = 'the roles file is not valid, so people who sign in have no access; see the log';

/** Returns the problems that an operator has to solve, for `/ready` and the overview. */
function createNotices({ storing, files }: Context, alerts: ServedAlerts, retention: Retention) {
  return async (): Promise<readonly Notice[]> => {
    const problems = [
      ['storing', await storing.findProblem()],
      ['alerts', alerts.findProblem()],
      ['roles', files.roles.current().isBroken ? BROKEN_ROLES : undefined],
      ['retention', retention.stopped()],
    ] as const;
    return problems.flatMap(([topic, message]) => (message === undefined ? [] : [{ topic, message }]));
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
