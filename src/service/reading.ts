import { createCached, createWarmer } from '../cache/cached.ts';
import { createSharedAnswers, type SharedAnswers } from '../cache/shared.ts';
import { createMemoryStore } from '../cache/store.ts';
import { findServerAddress } from '../config/clickhouse.ts';
import type { Endpoint } from '../definitions/endpoint.ts';
import { keyOfLane } from '../engine/lanes.ts';
import { TailraceError } from '../errors.ts';
import type { Usage } from '../ingest/usage.ts';
import { createThrottle } from '../lib/task.ts';
import type { Cursors } from '../query/cursor.ts';
import { findOwner } from '../query/pins.ts';
import { createRunner, type Run } from '../query/run.ts';
import { createSteps } from '../query/steps.ts';
import { createSharedRates } from '../serve/admit.ts';
import { createTails } from '../tail/tails.ts';
import type { Context } from './context.ts';

export type Reading = ReturnType<typeof openReading>;

/** Opens the parts from questions to answers: runner, cache, warmer, live tails. */
export function openReading(
  context: Context,
  { cursors, usage, shared }: { cursors: Cursors; usage: Usage; shared: SharedAnswers | undefined },
) {
  const { config, core, metrics, logger, now, random, opened } = context;
  const { engine, writes, registry } = core;
  const onRefresh = (endpoint: Endpoint, error?: unknown) => {
    metrics.refreshed(endpoint.name, error !== undefined);
    if (error === undefined) return;
    logger.warn({ err: error, endpoint: endpoint.name }, 'a warm answer could not be refreshed');
  };
  const runEngine = createRunner(engine, now);
  const runCounted = countUsage(countByEndpoint(runEngine, context), usage);
  // Not in the metrics: the name of a draft is any text.
  const runDraft = countUsage(runEngine, usage);
  const run = createSteps(runCounted, config.queryTimeoutMs, now);
  const cache = createMemoryStore(config.cacheBytesMax);
  const cached = createCached({ ...config, run, now, store: cache, shared, random, onRefresh });
  const warmer = createWarmer({ store: cache, cached, endpoints: () => registry.endpoints, now });
  opened.defer(async () => {
    await engine.close(); // otherwise a refresh could run for its whole time
    await warmer.idle();
  });
  const tails = createTails({
    ...{ run, writes, cursors, registry, now, limits: config },
    seesEveryWrite: engine.seesEveryWrite,
    onEnded: metrics.tailsEnded.inc,
    onFailure: (error, endpoint) => logger.warn({ err: error, endpoint }, 'a live tail could not be read'),
  });
  return { cache, cached, warmer, tails, runCounted, runDraft };
}

const HAVE_RUN: ReadonlySet<string> = new Set(['query_timeout', 'query_failed']);

/** Counts queries for quotas, and rejects those of a spent quota. */
function countUsage(run: Run, usage: Usage): Run {
  return async (question, options) => {
    const { endpoint, values } = question;
    const asker = { key: keyOfLane(options?.lane ?? ''), project: findOwner(endpoint, values) ?? '' };
    usage.checkQuery(asker);
    const startMs = performance.now();
    const answer = await run(question, options).catch((error: unknown) => {
      // Otherwise a key could use all cores with queries that time out. Others, such as those rejected by the queue, have
      // not run.
      const hasRun = error instanceof TailraceError && HAVE_RUN.has(error.code);
      if (hasRun) usage.countQuery(asker, performance.now() - startMs);
      throw error;
    });
    usage.countQuery(asker, answer.coreMs);
    return answer;
  };
}

/** Counts queries by endpoint, for the metrics. */
function countByEndpoint(run: Run, { metrics }: Context): Run {
  return async (question, options) => {
    const { name } = question.endpoint;
    metrics.queries.inc(name);
    const answer = await run(question, options);
    metrics.queryDone(name, answer.engineMs / 1000);
    return answer;
  };
}

const DOWN = 'Redis is unavailable: this replica continues with its own answers and rates';

/** Opens the answers and rates of all replicas, on the Redis of the settings; `undefined` without it. */
export async function openReplicas({ config, metrics, logger, now, secret, opened }: Context) {
  if (config.redisUrl === '') return undefined;
  const { openRedis } = await import('../lib/redis.ts'); // its client is loaded only if it is used
  const throttleFailure = createThrottle(now);
  const throttleRejected = createThrottle(now);
  const redis = openRedis(config.redisUrl, {
    onUp: () => logger.info('Redis is available: answers and rates are shared with the other replicas'),
    onDown: (error) => logger.warn({ err: error }, DOWN),
    onFailure(error, isRejected) {
      metrics.redisFailures.inc();
      if (isRejected) throttleFailure(() => logger.warn({ err: error }, 'Redis rejected a command'));
    },
  });
  const { database = '', cluster = '' } = findServerAddress(config) ?? {};
  const answers = createSharedAnswers({
    ...{ redis, secret, now, queryTimeoutMs: config.queryTimeoutMs },
    onLookup: metrics.lookups.inc,
    store: JSON.stringify([database, cluster]),
    onRejected() {
      metrics.sharedRejected.inc();
      throttleRejected(() => logger.warn('an answer in Redis was not written by a replica: ignored'));
    },
  });
  opened.defer(async () => {
    await answers.idle(); // releases the leases of this replica
    redis.close();
  });
  return { answers, rates: createSharedRates(redis, secret), isUp: () => redis.isUp };
}
