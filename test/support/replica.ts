import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from 'vitest';
import { createCached } from '../../src/cache/cached.ts';
import { createSharedAnswers } from '../../src/cache/shared.ts';
import { type CallerOptions, createMemoryStore } from '../../src/cache/store.ts';
import type { Endpoint } from '../../src/definitions/endpoint.ts';
import { openRedis } from '../../src/lib/redis.ts';
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
  /** Its engine answers at once. */
  readonly isPrompt?: boolean;
  readonly endpoint?: Endpoint;
}

/** The cache of one replica, with a clock and an engine of its own, over a real Redis. */
export async function openReplica(options: ReplicaOptions) {
  const { redisUrl, secret = 'a secret', endpoint = SHARED_ENDPOINT } = options;
  // Runs on, as that of Redis does.
  const clock = { aheadMs: 0 };
  const now = () => Date.now() + clock.aheadMs;
  const counts = { rejected: 0, hit: 0, miss: 0, taken: 0, failures: 0 };
  const queries: Query[] = [];
  const run: Run = ({ values: { a } }, { signal } = {}) => {
    const instantMs = now();
    const number = queries.length;
    return new Promise<Answer>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      const answer = (text = `answer ${number} of ${a}`) =>
        resolve({ body: Buffer.from(text), rows: 1, format: JSON_FORMAT, instantMs, engineMs: 1, coreMs: 0 });
      queries.push({ signal, answer, fail: reject });
      if (options.isPrompt === true) answer();
    });
  };
  const redis = openRedis(
    redisUrl,
    { onUp() {}, onDown() {}, onFailure: () => void counts.failures++ },
    60_000, // on a busy machine it must not count as unavailable
  );
  await vi.waitFor(() => expect(redis.isUp).toBe(true), WAIT);
  const shared = createSharedAnswers({
    ...{ redis, secret: Buffer.from(secret), store: 'test', now, queryTimeoutMs: 10_000 },
    onLookup: (result) => void counts[result]++,
    onRejected: () => void counts.rejected++,
  });
  const store = createMemoryStore(10_000_000);
  const cached = createCached({
    ...{ run, store, now, random: () => 0, onRefresh() {} },
    ...{ shared, staleIfErrorSeconds: 0 },
  });
  return {
    ...{ clock, counts, queries, redis },
    async ask(values: ParameterValues = { a: '' }, caller: CallerOptions = {}) {
      const question = createQuestion(endpoint, values);
      return cached.find(question, caller) ?? (await cached.compute(question, caller));
    },
    /** Refreshes the entry as the warmer does. @returns whether this replica computed */
    async refresh(values: ParameterValues = { a: '' }) {
      const entry = store.get(createQuestion(endpoint, values).key);
      return entry === undefined ? undefined : await cached.refresh(entry);
    },
    /** What the engine is asked next. */
    async query(index = 0): Promise<Query> {
      return await vi.waitFor(() => queries.at(index) ?? Promise.reject(new Error('no such query')), WAIT);
    },
    idle: shared.idle,
    /** As a process that is killed: no word to anybody. */
    die: () => redis.close(),
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
