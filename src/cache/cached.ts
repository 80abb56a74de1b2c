import type { Endpoint } from '../definitions/endpoint.ts';
import { createSingleFlight, type Flight } from '../lib/single-flight.ts';
import type { ParameterValues } from '../query/parameters.ts';
import type { Answer, Run, RunOptions } from '../query/run.ts';
import { cacheKey } from './key.ts';
import type { CacheEntry, CacheStore } from './store.ts';

/** `bypass`: the endpoint is not cached. `collapsed`: joined the query of an identical request. */
export type CacheOutcome = 'hit' | 'miss' | 'collapsed' | 'bypass';

export interface Served {
  readonly answer: Answer;
  readonly outcome: CacheOutcome;
  /** Since the instant of the answer's query, whole seconds. */
  readonly ageSeconds: number;
}

/** Who asks: how to stop waiting, and the lane in which the query waits for the engine. */
export type CallerOptions = Omit<RunOptions, 'onJoin'>;

export interface CachedQueries {
  /** The answer for a caller: kept, joined or fresh. Failures are never kept. */
  ask(endpoint: Endpoint, values: ParameterValues, caller?: CallerOptions): Promise<Served>;
  /** Runs the query of a kept answer again and keeps the new one in its place; the old one stays when this fails. */
  refresh(key: string, endpoint: Endpoint, entry: CacheEntry): Promise<void>;
  /** Keys of answers to be kept warm, those asked for last first. */
  warmKeys(): string[];
}

export interface CachedOptions {
  readonly run: Run;
  readonly store: CacheStore;
  /** ms since the epoch. */
  readonly now: () => number;
  /** From 0 up to 1; spreads the refreshes of answers that were made together. */
  readonly random: () => number;
  /** Keys that `warmKeys` remembers; beyond it the one asked for longest ago is forgotten. */
  readonly warmKeysMax: number;
}

/** What was asked, and when a caller last did: an entry that leaves the store during its refresh returns no younger. */
type Asked = Pick<CacheEntry, 'values' | 'lastAskedMs'>;

// No key has this id: those of the environment are called private and public, others begin with a prefix of theirs.
const WARMER_LANE = 'warmer';
// A refresh comes up to a tenth of the interval early, never late.
const JITTER = 0.1;

/**
 * Puts the cache in front of the runner. An answer is served until it is `caching` seconds old, counted from the instant
 * of its query (spec 2.1, 8); identical concurrent requests share one query. An endpoint without caching (spec 4.2 rule 5)
 * passes straight through: each request has a query of its own.
 */
export function createCached(options: CachedOptions): CachedQueries {
  const { run, store, now, random, warmKeysMax } = options;
  const flights = createSingleFlight<Answer>();
  // In the order of asking, which the store's own order does not tell: a refresh is a use there.
  const warmKeys = new Set<string>();

  function rememberWarm(key: string, endpoint: Endpoint): void {
    if (endpoint.warmingSeconds === undefined) return;
    warmKeys.delete(key);
    warmKeys.add(key);
    if (warmKeys.size <= warmKeysMax) return;
    const [longestAgo = key] = warmKeys;
    warmKeys.delete(longestAgo);
  }

  function keep(key: string, endpoint: Endpoint, answer: Answer, { values, lastAskedMs }: Asked): void {
    const interval = endpoint.warmingSeconds;
    const wait =
      interval === undefined ? Number.POSITIVE_INFINITY : interval * 1000 * (1 - JITTER * random());
    store.set(key, {
      endpointId: endpoint.id,
      endpointHash: endpoint.hash,
      values,
      answer,
      lastAskedMs: store.get(key)?.lastAskedMs ?? lastAskedMs,
      dueMs: answer.instantMs + wait,
    });
  }

  /** One query for all who wait for this key, callers and warmer alike. */
  function fly(key: string, endpoint: Endpoint, asked: Asked, { signal, lane }: CallerOptions) {
    const start: Flight<Answer> = async (flightSignal, onJoin) => {
      const answer = await run(endpoint, asked.values, { signal: flightSignal, lane, onJoin });
      keep(key, endpoint, answer, asked);
      return answer;
    };
    return flights.run(key, start, { signal, name: lane });
  }

  /** An answer from ahead of the clock is not: the clock was set back, and its age cannot be told any more. */
  function isFresh(answer: Answer, cachingSeconds: number): boolean {
    const ageMs = now() - answer.instantMs;
    return ageMs >= 0 && ageMs < cachingSeconds * 1000;
  }

  const ageSeconds = (answer: Answer) => Math.max(0, Math.floor((now() - answer.instantMs) / 1000));

  return {
    async ask(endpoint, values, caller = {}) {
      if (endpoint.cachingSeconds === undefined) {
        const answer = await run(endpoint, values, caller);
        return { answer, outcome: 'bypass', ageSeconds: ageSeconds(answer) };
      }
      const key = cacheKey(endpoint, values);
      const kept = store.get(key);
      if (kept !== undefined) kept.lastAskedMs = now();
      if (kept !== undefined && isFresh(kept.answer, endpoint.cachingSeconds)) {
        rememberWarm(key, endpoint);
        return { answer: kept.answer, outcome: 'hit', ageSeconds: ageSeconds(kept.answer) };
      }
      const { value: answer, joined } = await fly(key, endpoint, { values, lastAskedMs: now() }, caller);
      rememberWarm(key, endpoint);
      return { answer, outcome: joined ? 'collapsed' : 'miss', ageSeconds: ageSeconds(answer) };
    },
    async refresh(key, endpoint, entry) {
      await fly(key, endpoint, entry, { lane: WARMER_LANE });
    },
    warmKeys: () => [...warmKeys].reverse(),
  };
}
