import type { Endpoint } from '../definitions/endpoint.ts';
import { TailraceError } from '../errors.ts';
import type { ParameterValues } from '../query/parameters.ts';
import type { Answer, Run } from '../query/run.ts';
import { acceptedSeconds, isYoungerAt } from './age.ts';
import { type Asked, createKeep } from './keep.ts';
import { cacheKey } from './key.ts';
import { type CallerOptions, createQueryFlights, type QueryFlightsOptions } from './query-flights.ts';
import type { CacheEntry } from './store.ts';
import { createWarmKeys } from './warm-keys.ts';

/**
 * `miss`: nothing was kept, or nothing young enough. `shared`: the same here, but another replica had it. `collapsed`: joined the
 * query of an identical request. `stale`: kept for longer than the endpoint's caching, and served because the engine was away.
 * `bypass`: the endpoint is not cached.
 */
export type CacheOutcome = 'hit' | 'miss' | 'shared' | 'collapsed' | 'stale' | 'bypass';

export interface Served {
  readonly answer: Answer;
  readonly outcome: CacheOutcome;
  /** Since the instant of the answer's query, whole seconds. */
  readonly ageSeconds: number;
}

export interface CachedQueries {
  /** The answer for a caller: kept, joined or fresh. Failures are never kept. */
  ask(endpoint: Endpoint, values: ParameterValues, caller?: CallerOptions): Promise<Served>;
  /**
   * The same where the answer is kept and young enough, at once; otherwise `undefined`, and `ask` has to be asked.
   *
   * @param key the `cacheKey` of the question
   * @param maxAgeSeconds as in `CallerOptions`
   */
  findHit(key: string, endpoint: Endpoint, maxAgeSeconds?: number): Served | undefined;
  /** Notes that what `findHit` found is served: it stays, is kept warm, and is refreshed if that is due. */
  noteUse(key: string, endpoint: Endpoint): void;
  /**
   * Runs the query of a kept answer again and keeps the new one in its place; the old one stays when this fails. Where there are
   * several replicas one of them does, and the others take its answer over.
   *
   * @returns whether it was this one
   */
  refresh(key: string, endpoint: Endpoint, entry: CacheEntry): Promise<boolean>;
  /** Keys of answers to be kept warm, those asked for last first. */
  warmKeys(): string[];
}

export interface CachedOptions extends QueryFlightsOptions {
  readonly run: Run;
  /** A refresh that nobody waits for has ended. */
  readonly onRefresh: (endpoint: Endpoint, error?: unknown) => void;
  /** Keys that `warmKeys` remembers; beyond it the one asked for longest ago is forgotten. */
  readonly warmKeysMax: number;
}

/**
 * Puts the cache in front of the runner. An answer is served until it is `caching` seconds old, counted from the instant
 * of its query (spec 2.1, 8); identical concurrent requests share one query. An endpoint without caching (spec 4.2 rule 5)
 * passes straight through: each request has a query of its own.
 *
 * An answer that is due for a refresh and has had none is served at once, and refreshed behind its caller's back.
 */
export function createCached(options: CachedOptions): CachedQueries {
  const { run, store, now, staleIfErrorSeconds, warmKeysMax } = options;
  const keep = createKeep(options);
  const flights = createQueryFlights(options, keep);
  const warmKeys = createWarmKeys(warmKeysMax);

  const isYounger = (answer: Answer, seconds: number) => isYoungerAt(now(), answer, seconds);
  const ageSeconds = (answer: Answer) => Math.max(0, Math.floor((now() - answer.instantMs) / 1000));

  /** The warmer has not got to it, or had to leave it out: the caller is not the one to wait for that. */
  function refreshIfDue(key: string, endpoint: Endpoint, entry: CacheEntry): void {
    const { warmingSeconds } = endpoint;
    if (warmingSeconds === undefined || isYounger(entry.answer, warmingSeconds) || entry.dueMs > now())
      return;
    entry.dueMs = now() + warmingSeconds * 1000;
    flights.refresh(key, endpoint, entry).then(
      (isOurs) => isOurs && options.onRefresh(endpoint),
      (error) => options.onRefresh(endpoint, error),
    );
  }

  /**
   * A kept answer past its time, where the engine is away and a little older is allowed: this replica's, or else another's.
   *
   * @throws `error` where there is none
   */
  async function serveStale(error: unknown, key: string, endpoint: Endpoint, asked: Asked): Promise<Served> {
    const seconds = (endpoint.cachingSeconds ?? 0) + staleIfErrorSeconds;
    if (!isAway(error)) throw error;
    const own = store.get(key)?.answer;
    const isOwn = own !== undefined && isYounger(own, seconds);
    const answer = isOwn ? own : await flights.findShared(key, endpoint);
    if (answer === undefined || !isYounger(answer, seconds)) throw error;
    if (!isOwn) keep(key, endpoint, answer, asked);
    return { answer, outcome: 'stale', ageSeconds: ageSeconds(answer) };
  }

  const findHit: CachedQueries['findHit'] = (key, endpoint, maxAgeSeconds) => {
    const kept = store.peek(key);
    const seconds = acceptedSeconds(endpoint, maxAgeSeconds);
    if (kept === undefined || !isYounger(kept.answer, seconds)) return undefined;
    return { answer: kept.answer, outcome: 'hit', ageSeconds: ageSeconds(kept.answer) };
  };

  const noteUse: CachedQueries['noteUse'] = (key, endpoint) => {
    const kept = store.get(key);
    if (kept === undefined) return;
    kept.lastAskedMs = now();
    warmKeys.remember(key, endpoint);
    refreshIfDue(key, endpoint, kept);
  };

  return {
    findHit,
    noteUse,
    async ask(endpoint, values, caller = {}) {
      if (endpoint.cachingSeconds === undefined) {
        const answer = await run(endpoint, values, caller);
        return { answer, outcome: 'bypass', ageSeconds: ageSeconds(answer) };
      }
      const key = cacheKey(endpoint, values);
      const hit = findHit(key, endpoint, caller.maxAgeSeconds);
      if (hit !== undefined) {
        noteUse(key, endpoint);
        return hit;
      }
      const kept = store.get(key);
      if (kept !== undefined) kept.lastAskedMs = now();
      const asked = { values, lastAskedMs: now() };
      try {
        const { value, joined } = await flights.fly(key, endpoint, asked, caller);
        const { answer, origin } = value;
        warmKeys.remember(key, endpoint);
        const outcome = joined ? 'collapsed' : OUTCOMES[origin];
        return { answer, outcome, ageSeconds: ageSeconds(answer) };
      } catch (error) {
        if (caller.maxAgeSeconds !== undefined) throw error; // whoever bounds the age wants none older
        return await serveStale(error, key, endpoint, asked);
      }
    },
    refresh: flights.refresh,
    warmKeys: warmKeys.list,
  };
}

const OUTCOMES = { engine: 'miss', shared: 'shared' } as const;

/** Failures that say nothing about the query: the same a little later may well succeed. */
function isAway(error: unknown): boolean {
  return (
    error instanceof TailraceError && (error.code === 'engine_unavailable' || error.code === 'overloaded')
  );
}
