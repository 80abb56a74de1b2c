import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from 'vitest';
import { createCached } from '../../src/cache/cached.ts';
import { createSharedFlights } from '../../src/cache/shared/flight.ts';
import { createRedisCache } from '../../src/cache/shared/redis-cache.ts';
import { type CallerOptions, createMemoryStore } from '../../src/cache/store.ts';
import { createWarmer } from '../../src/cache/warmer.ts';
import type { Endpoint } from '../../src/definitions/endpoint.ts';
import { createBackground } from '../../src/lib/background.ts';
import { openRedis, type Redis } from '../../src/lib/redis.ts';
import { JSON_FORMAT } from '../../src/query/format.ts';
import type { ParameterValues } from '../../src/query/parameters.ts';
import { createQuestion } from '../../src/query/question.ts';
import type { Answer, Run } from '../../src/query/run.ts';
import { startRedis, type TestRedis } from '../../trial/redis.ts';
import { CACHED } from './cached-endpoint.ts';

const WAIT = { timeout: 60_000 };

/** Stored, unlike a SELECT of a caller's own: it declares its columns. */
export const SHARED_ENDPOINT: Endpoint = {
  ...CACHED,
  columns: [{ name: 'count', type: 'integer', description: '' }],
};

/** A query that a replica's engine was asked for; the test decides how it ends, unless the replica answers by itself. */
export interface Query {
  readonly signal: AbortSignal | undefined;
  answer(text?: string): void;
  fail(error: Error): void;
}

export interface ReplicaOptions {
  readonly redisUrl: string;
  readonly secret?: string;
  /** How far its clock is ahead, ms. */
  readonly aheadMs?: number;
  /** Its engine answers at once. */
  readonly isPrompt?: boolean;
  readonly endpoint?: Endpoint;
  /** How far the clock of Redis is ahead of its real one, ms: a test that lets time pass moves it, too. */
  readonly redisClock?: { readonly aheadMs: number };
}

/** The cache of one replica, with a clock and an engine of its own, over a real Redis. */
export async function openReplica(options: ReplicaOptions) {
  const { redisUrl, secret = 'a secret', endpoint = SHARED_ENDPOINT } = options;
  // Runs on, as that of Redis does.
  const clock = { aheadMs: options.aheadMs ?? 0 };
  const now = () => Date.now() + clock.aheadMs;
  const counts = { refused: 0, hit: 0, miss: 0, taken: 0, refreshed: 0, failedRefreshes: 0, failures: 0 };
  const queries: Query[] = [];
  const run: Run = ({ values: { a } }, { signal } = {}) => {
    const instantMs = now();
    const number = queries.length;
    return new Promise<Answer>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      const answer = (text = `answer ${number} of ${a}`) =>
        resolve({ body: Buffer.from(text), rows: 1, format: JSON_FORMAT, instantMs, engineMs: 1 });
      queries.push({ signal, answer, fail: reject });
      if (options.isPrompt === true) answer();
    });
  };
  const redis = openRedis(
    redisUrl,
    { onUp() {}, onDown() {}, onFailure: () => void counts.failures++ },
    60_000, // ms within which Redis has to answer, also on a busy machine
  );
  await vi.waitFor(() => expect(redis.isUp).toBe(true), WAIT);
  const shared = createRedisCache({
    redis: withClock(redis, options.redisClock),
    ...{ secret: Buffer.from(secret), store: 'test', now, createToken: randomUUID },
    onRefused: () => void counts.refused++,
  });
  const background = createBackground();
  const onLookup = (result: 'hit' | 'miss' | 'taken') => void counts[result]++;
  const store = createMemoryStore(10_000_000);
  const onRefresh = (_: unknown, error?: unknown) =>
    void counts[error === undefined ? 'refreshed' : 'failedRefreshes']++;
  const cached = createCached({
    ...{ run, store, now, random: () => 0, warmKeysMax: 100, onRefresh },
    refresh: (question, _, runOptions) => run(question, runOptions),
    shared: createSharedFlights({ shared, background, queryTimeoutMs: 10_000, onLookup }),
    staleIfErrorSeconds: 0,
  });
  const warmer = createWarmer({
    ...{ store, cached, now, concurrencyMax: 100, onRefresh },
    endpoints: () => [endpoint],
  });
  return {
    ...{ clock, now, counts, queries, redis, shared, store, cached, warmer },
    async ask(values: ParameterValues = { a: '' }, caller: CallerOptions = {}) {
      const question = createQuestion(endpoint, values);
      return cached.find(question, caller) ?? (await cached.compute(question, caller));
    },
    /** What the engine is asked next. */
    async query(index = 0): Promise<Query> {
      return await vi.waitFor(() => queries.at(index) ?? Promise.reject(new Error('no such query')), WAIT);
    },
    /** Moves the clock on, and lets the warmer do what is due then. */
    async pass(seconds: number): Promise<void> {
      clock.aheadMs += seconds * 1000;
      warmer.tick();
      await warmer.idle();
      await background.idle();
    },
    idle: background.idle,
    /** As a process that is killed: no word to anybody. */
    die: () => redis.close(),
  };
}

function withClock(redis: Redis, clock: ReplicaOptions['redisClock']): Redis {
  if (clock === undefined) return redis;
  return {
    get isUp() {
      return redis.isUp;
    },
    close: redis.close,
    run: (commands) =>
      redis.run((send) =>
        commands(async (command) => {
          const reply = await send(command);
          if (command[0] !== 'TIME' || !Array.isArray(reply)) return reply;
          return [String(Number(reply[0]) + clock.aheadMs / 1000), reply[1]];
        }),
      ),
  };
}

export type Replica = Awaited<ReturnType<typeof openReplica>>;

/** A Redis that is empty before each test, and the replicas over it, which end with their test. */
export function setUpReplicas() {
  let redis: TestRedis;
  let client: Awaited<ReturnType<TestRedis['client']>>;
  const replicas: Replica[] = [];
  beforeAll(async () => {
    redis = await startRedis();
  });
  beforeEach(async () => {
    client = await redis.client();
    await client.flushAll();
  });
  afterEach(() => {
    for (const replica of replicas.splice(0)) replica.die();
  });
  afterAll(() => redis.remove());

  async function open(options: Partial<ReplicaOptions> = {}): Promise<Replica> {
    const replica = await openReplica({ redisUrl: redis.url, isPrompt: true, ...options });
    replicas.push(replica);
    return replica;
  }
  return {
    redis: () => redis,
    client: () => client,
    open,
    openTwo: (options: Partial<ReplicaOptions> = {}) => Promise.all([open(options), open(options)]),
  };
}
