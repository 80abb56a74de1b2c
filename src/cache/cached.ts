import type { Endpoint } from '../definitions/endpoint.ts';
import { TailraceError } from '../errors.ts';
import type { Question } from '../query/question.ts';
import type { Answer, Run } from '../query/run.ts';
import { createQueryFlights, type QueryFlightsOptions } from './query-flights.ts';
import {
  acceptedSeconds,
  ageSeconds,
  type CacheEntry,
  type CacheOutcome,
  type CallerOptions,
  createKept,
  isYounger,
  type Kept,
  type KeptOptions,
  type Served,
} from './store.ts';

export interface CachedQueries extends Pick<Kept, 'find' | 'warmKeys'> {
  /**
   * The answer that `find` has not found: from another replica, from a flight that is under way, or from a query. Failures are
   * never kept.
   *
   * @throws TailraceError `not_cached` if the caller demands a kept answer; what the query fails with
   */
  compute(question: Question, caller?: CallerOptions): Promise<Served>;
  /**
   * Computes a kept answer again and replaces it; if that fails, the old one stays. Of several replicas one computes, and the
   * others take over its answer.
   *
   * @returns whether it was this one
   */
  refresh(entry: CacheEntry): Promise<boolean>;
}

export interface CachedOptions extends Omit<KeptOptions, 'onOverdue'>, Omit<QueryFlightsOptions, 'kept'> {
  /** Computes answers that are not kept. */
  readonly run: Run;
  /** A refresh in the background has ended. */
  readonly onRefresh: (endpoint: Endpoint, error?: unknown) => void;
}

/**
 * Puts the cache in front of the runner. An answer is served until it is `caching` seconds old, counted from the instant
 * of its query (spec 2.1, 8); identical concurrent questions share one flight. An endpoint without caching (spec 4.2 rule 5)
 * passes straight through: each request has a query of its own.
 */
export function createCached(options: CachedOptions): CachedQueries {
  const { run, store, now, staleIfErrorSeconds, onRefresh } = options;
  const kept = createKept({ ...options, onOverdue: refreshBehind });
  const flights = createQueryFlights({ ...options, kept });

  /** Fire and forget; the end is reported. */
  function refreshBehind(entry: CacheEntry): void {
    const { endpoint } = entry.question;
    flights.refresh(entry).then(
      (isOurs) => isOurs && onRefresh(endpoint),
      (error) => onRefresh(endpoint, error),
    );
  }

  function toServed(answer: Answer, outcome: CacheOutcome): Served {
    return { answer, outcome, ageSeconds: ageSeconds(answer, now()) };
  }

  /** An answer younger than so many seconds: of this replica, or else of another, which is kept here from then on. */
  async function findWithin(question: Question, seconds: number): Promise<Answer | undefined> {
    const own = store.get(question.key)?.answer;
    if (own !== undefined && isYounger(own, seconds, now())) return own;
    const answer = seconds === 0 ? undefined : await flights.findShared(question);
    if (answer === undefined || !isYounger(answer, seconds, now())) return undefined;
    return kept.keep(question, answer, now());
  }

  /** While the engine is unavailable, an answer past its time, if the settings allow it. @throws `error` if there is none */
  async function serveStale(error: unknown, question: Question): Promise<Served> {
    if (!isUnavailable(error)) throw error;
    const found = await findWithin(question, (question.endpoint.cachingSeconds ?? 0) + staleIfErrorSeconds);
    if (found === undefined) throw error;
    return toServed(found, 'stale');
  }

  /** Of another replica: this one has none, and no query may run. @throws TailraceError `not_cached` */
  async function serveShared(question: Question, caller: CallerOptions): Promise<Served> {
    const { endpoint } = question;
    const found = await findWithin(question, acceptedSeconds(endpoint, caller));
    if (found === undefined) throw notCached(endpoint);
    kept.noteUse(question);
    return toServed(found, 'shared');
  }

  async function query(question: Question, caller: CallerOptions): Promise<Served> {
    try {
      const { value, joined } = await flights.fly(question, { ...caller, lastAskedMs: now() });
      kept.noteUse(question);
      return toServed(value.answer, joined ? 'collapsed' : OUTCOMES[value.origin]);
    } catch (error) {
      if (caller.maxAgeSeconds !== undefined) throw error; // a caller that bounds the age takes no older answer
      return await serveStale(error, question);
    }
  }

  return {
    find: kept.find,
    warmKeys: kept.warmKeys,
    refresh: flights.refresh,
    async compute(question, caller = {}) {
      const { endpoint } = question;
      if (endpoint.cachingSeconds === undefined || caller.noStore === true) {
        if (caller.onlyIfCached === true) throw notCached(endpoint);
        return toServed(await run(question, caller), 'bypass');
      }
      return await (caller.onlyIfCached === true ? serveShared(question, caller) : query(question, caller));
    },
  };
}

const OUTCOMES = { engine: 'miss', shared: 'shared' } as const;

function notCached({ name, cachingSeconds }: Endpoint): TailraceError {
  const why =
    cachingSeconds === undefined
      ? `${name} is not cached`
      : `no answer of ${name} is kept that is young enough`;
  return new TailraceError('not_cached', `${why}, and only-if-cached asks for no other`);
}

/** Failures that do not come from the query itself: it may succeed a little later. */
function isUnavailable(error: unknown): boolean {
  return (
    error instanceof TailraceError && (error.code === 'engine_unavailable' || error.code === 'overloaded')
  );
}
