import type { Endpoint } from '../definitions/endpoint.ts';
import { TailraceError } from '../errors.ts';
import { createSingleFlight, type Flight } from '../lib/single-flight.ts';
import type { ParameterValues } from '../query/parameters.ts';
import type { Answer, Run, RunOptions } from '../query/run.ts';
import type { Refresh } from './incremental.ts';
import { cacheKey } from './key.ts';
import type { CacheEntry, CacheStore } from './store.ts';
import { createWarmKeys } from './warm-keys.ts';

/**
 * `miss`: nothing was kept, or nothing young enough. `collapsed`: joined the query of an identical request. `stale`: kept for
 * longer than the endpoint's caching, and served because the engine was away. `bypass`: the endpoint is not cached.
 */
export type CacheOutcome = 'hit' | 'miss' | 'collapsed' | 'stale' | 'bypass';

export interface Served {
  readonly answer: Answer;
  readonly outcome: CacheOutcome;
  /** Since the instant of the answer's query, whole seconds. */
  readonly ageSeconds: number;
}

/** Who asks: how to stop waiting, the lane in which the query waits for the engine, and how old the answer may be. */
export interface CallerOptions extends Omit<RunOptions, 'onJoin'> {
  /** Less than the endpoint's caching where the caller wants it so; 0 asks for a query of now. */
  readonly maxAgeSeconds?: number | undefined;
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
  /** Runs the query of a kept answer again and keeps the new one in its place; the old one stays when this fails. */
  refresh(key: string, endpoint: Endpoint, entry: CacheEntry): Promise<void>;
  /** Keys of answers to be kept warm, those asked for last first. */
  warmKeys(): string[];
}

export interface CachedOptions {
  readonly run: Run;
  /** Makes the answers that are kept. */
  readonly refresh: Refresh;
  readonly store: CacheStore;
  /** ms since the epoch. */
  readonly now: () => number;
  /** From 0 up to 1; spreads the refreshes of answers that were made together. */
  readonly random: () => number;
  /** How much longer than `caching` an answer is served while the engine is away; 0: no longer. */
  readonly staleIfErrorSeconds: number;
  /** A refresh that nobody waits for has ended. */
  readonly onRefresh: (endpoint: Endpoint, error?: unknown) => void;
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
 *
 * An answer that is due for a refresh and has had none is served at once, and refreshed behind its caller's back.
 */
export function createCached(options: CachedOptions): CachedQueries {
  const { run, refresh, store, now, staleIfErrorSeconds, warmKeysMax } = options;
  const keep = createKeep(options);
  const flights = createSingleFlight<Answer>();
  const warmKeys = createWarmKeys(warmKeysMax);

  /** One query for all who wait for this key, callers and warmer alike; those who want a query of now have their own. */
  function fly(key: string, endpoint: Endpoint, asked: Asked, caller: CallerOptions) {
    const { signal, lane, requestId } = caller;
    const kept = mayReuse(endpoint, caller) ? store.peek(key)?.answer : undefined;
    const start: Flight<Answer> = async (shared, onJoin) => {
      const how = { signal: shared, lane, onJoin, requestId };
      return keep(key, endpoint, await refresh(endpoint, { ...asked, kept }, how), asked);
    };
    return flights.run(kept === undefined ? key : `${key} from the kept`, start, { signal, name: lane });
  }

  const isYounger = (answer: Answer, seconds: number) => isYoungerAt(now(), answer, seconds);
  const ageSeconds = (answer: Answer) => Math.max(0, Math.floor((now() - answer.instantMs) / 1000));

  /** The warmer has not got to it, or had to leave it out: the caller is not the one to wait for that. */
  function refreshIfDue(key: string, endpoint: Endpoint, entry: CacheEntry): void {
    const { warmingSeconds } = endpoint;
    if (warmingSeconds === undefined || isYounger(entry.answer, warmingSeconds) || entry.dueMs > now())
      return;
    entry.dueMs = now() + warmingSeconds * 1000;
    fly(key, endpoint, entry, { lane: WARMER_LANE }).then(
      () => options.onRefresh(endpoint),
      (error) => options.onRefresh(endpoint, error),
    );
  }

  /**
   * A kept answer past its time, where the engine is away and a little older is allowed.
   *
   * @throws `error` where there is none
   */
  function serveStale(error: unknown, key: string, maxSeconds: number): Served {
    const kept = isAway(error) ? store.get(key) : undefined;
    if (kept === undefined || !isYounger(kept.answer, maxSeconds)) throw error;
    return { answer: kept.answer, outcome: 'stale', ageSeconds: ageSeconds(kept.answer) };
  }

  const findHit: CachedQueries['findHit'] = (key, endpoint, maxAgeSeconds = Number.POSITIVE_INFINITY) => {
    const kept = store.peek(key);
    const seconds = Math.min(endpoint.cachingSeconds ?? 0, maxAgeSeconds);
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
      try {
        const { value: answer, joined } = await fly(key, endpoint, { values, lastAskedMs: now() }, caller);
        warmKeys.remember(key, endpoint);
        return { answer, outcome: joined ? 'collapsed' : 'miss', ageSeconds: ageSeconds(answer) };
      } catch (error) {
        if (caller.maxAgeSeconds !== undefined) throw error; // whoever bounds the age wants none older
        return serveStale(error, key, endpoint.cachingSeconds + staleIfErrorSeconds);
      }
    },
    async refresh(key, endpoint, entry) {
      await fly(key, endpoint, entry, { lane: WARMER_LANE });
    },
    warmKeys: warmKeys.list,
  };
}

function createKeep({ store, now, random }: CachedOptions) {
  return (key: string, endpoint: Endpoint, answer: Answer, { values, lastAskedMs }: Asked): Answer => {
    if (isOvertaken(answer, store.peek(key)?.answer, now())) return answer;
    store.set(key, {
      endpointId: endpoint.id,
      endpointHash: endpoint.hash,
      values,
      answer,
      lastAskedMs: store.get(key)?.lastAskedMs ?? lastAskedMs,
      dueMs: answer.instantMs + intervalMs(endpoint) * (1 - JITTER * random()),
    });
    return answer;
  };
}

/** Between refreshes; Infinity where there are none. */
function intervalMs({ warmingSeconds = Number.POSITIVE_INFINITY }: Endpoint): number {
  return warmingSeconds * 1000;
}

/** Whether rows of the kept answer may be taken over: of an endpoint with buckets, for a caller who does not want a query of now. */
function mayReuse({ bucket }: Endpoint, { maxAgeSeconds }: Pick<CallerOptions, 'maxAgeSeconds'>): boolean {
  return bucket !== undefined && maxAgeSeconds === undefined;
}

/** Failures that say nothing about the query: the same a little later may well succeed. */
function isAway(error: unknown): boolean {
  return (
    error instanceof TailraceError && (error.code === 'engine_unavailable' || error.code === 'overloaded')
  );
}

/** Whether an answer is younger than that. One from ahead of the clock is not: it was set back, and the age cannot be told. */
function isYoungerAt(nowMs: number, { instantMs }: Answer, seconds: number): boolean {
  return nowMs >= instantMs && nowMs - instantMs < seconds * 1000;
}

/** Whether a caller who wanted a query of now was faster than a refresh begun before: nobody after him gets less than he saw. */
function isOvertaken({ instantMs }: Answer, kept: Answer | undefined, nowMs: number): boolean {
  return kept !== undefined && kept.instantMs > instantMs && kept.instantMs <= nowMs;
}
