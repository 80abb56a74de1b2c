import type { Endpoint } from '../definitions/endpoint.ts';
import { TailraceError } from '../errors.ts';
import type { ParameterValues } from '../query/parameters.ts';
import type { Answer, Run } from '../query/run.ts';
import { acceptedSeconds, ageSecondsAt } from './age.ts';
import { createFindKept, type FindKept } from './find-kept.ts';
import { createHits } from './hit.ts';
import { createKeep } from './keep.ts';
import { cacheKey } from './key.ts';
import { type CallerOptions, createQueryFlights, type QueryFlightsOptions } from './query-flights.ts';
import type { CacheEntry } from './store.ts';
import { createWarmKeys } from './warm-keys.ts';

/**
 * `miss`: nothing was kept, or nothing young enough. `shared`: the same here, but another replica had it. `collapsed`: joined the
 * query of an identical request. `stale`: kept for longer than the endpoint's caching, and served because the engine was away.
 * `bypass`: the endpoint is not cached, or the caller asked for an answer that is not kept.
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
  const findKept = createFindKept({ store, keep, flights, now });
  const { findHit, noteUse } = createHits({ ...options, flights, warmKeys });

  const toServed = (answer: Answer, outcome: CacheOutcome): Served => {
    return { answer, outcome, ageSeconds: ageSecondsAt(now(), answer) };
  };

  /**
   * A kept answer past its time, if the engine is unavailable and a little older is allowed: this replica's, or else another's.
   *
   * @throws `error` if there is none
   */
  async function serveStale(error: unknown, question: Question): Promise<Served> {
    if (!isAway(error)) throw error;
    const found = await findKept(question, (question.endpoint.cachingSeconds ?? 0) + staleIfErrorSeconds);
    if (found === undefined) throw error;
    return toServed(found, 'stale');
  }

  /** If nothing is kept here and no query is to be run. @throws TailraceError `not_cached` */
  async function serveShared(question: Question, maxAgeSeconds: number | undefined): Promise<Served> {
    const { key, endpoint } = question;
    const found = await findKept(question, acceptedSeconds(endpoint, maxAgeSeconds));
    if (found === undefined) throw notCached(endpoint);
    warmKeys.remember(key, endpoint);
    return toServed(found, 'shared');
  }

  async function query(question: Question, caller: CallerOptions): Promise<Served> {
    const { key, endpoint, asked } = question;
    try {
      const { value, joined } = await flights.fly(key, endpoint, asked, caller);
      warmKeys.remember(key, endpoint);
      return toServed(value.answer, joined ? 'collapsed' : OUTCOMES[value.origin]);
    } catch (error) {
      if (caller.maxAgeSeconds !== undefined) throw error; // whoever bounds the age wants none older
      return await serveStale(error, question);
    }
  }

  return {
    findHit,
    noteUse,
    async ask(endpoint, values, caller = {}) {
      const { noStore, onlyIfCached, maxAgeSeconds } = caller;
      if (endpoint.cachingSeconds === undefined || noStore === true) {
        if (onlyIfCached === true) throw notCached(endpoint);
        return toServed(await run(endpoint, values, caller), 'bypass');
      }
      const key = cacheKey(endpoint, values);
      const hit = findHit(key, endpoint, maxAgeSeconds);
      if (hit !== undefined) {
        noteUse(key, endpoint);
        return hit;
      }
      const kept = store.get(key);
      if (kept !== undefined) kept.lastAskedMs = now();
      const question = { key, endpoint, asked: { values, lastAskedMs: now() } };
      return await (onlyIfCached === true ? serveShared(question, maxAgeSeconds) : query(question, caller));
    },
    refresh: flights.refresh,
    warmKeys: warmKeys.list,
  };
}

type Question = Parameters<FindKept>[0];

const OUTCOMES = { engine: 'miss', shared: 'shared' } as const;

function notCached({ name, cachingSeconds }: Endpoint): TailraceError {
  const why =
    cachingSeconds === undefined
      ? `${name} is not cached`
      : `no answer of ${name} is kept that is young enough`;
  return new TailraceError('not_cached', `${why}, and only-if-cached asks for no other`);
}

/** Failures that say nothing about the query: the same a little later may well succeed. */
function isAway(error: unknown): boolean {
  return (
    error instanceof TailraceError && (error.code === 'engine_unavailable' || error.code === 'overloaded')
  );
}
