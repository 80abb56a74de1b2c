import { type Endpoint, isAdHoc } from '../definitions/endpoint.ts';
import { TailraceError } from '../errors.ts';
import { createSingleFlight, type Flight } from '../lib/single-flight.ts';
import type { Question } from '../query/question.ts';
import type { Answer, Run } from '../query/run.ts';
import type { Computation, FlightResult, Lease, SharedAnswers } from './shared.ts';
import {
  acceptedSeconds,
  ageSeconds,
  type CacheEntry,
  type CacheOutcome,
  type CacheStore,
  type CallerOptions,
  createKept,
  isYounger,
  type Kept,
  type KeptOptions,
  type Served,
} from './store.ts';

export type CachedQueries = ReturnType<typeof createCached>;

export interface CachedOptions extends Omit<KeptOptions, 'onOverdue'> {
  readonly run: Run;
  /** Answers of other replicas; `undefined` if there is one replica. */
  readonly shared?: SharedAnswers | undefined;
  /** How much longer than `caching` an answer is served while the engine is unavailable; 0: no longer. */
  readonly staleIfErrorSeconds: number;
  /** Called when a refresh has ended that this replica computed, or that failed. */
  readonly onRefresh: (endpoint: Endpoint, error?: unknown) => void;
}

/**
 * Puts the cache in front of the runner. An answer is served until it is `caching` seconds old, counted from the instant
 * of its query (spec 2.1, 8); identical concurrent questions share one flight. An endpoint without caching (spec 4.2 rule 5)
 * is not cached: each request runs its own query.
 */
export function createCached(options: CachedOptions) {
  const { run, store, now, staleIfErrorSeconds, onRefresh } = options;
  const kept = createKept({ ...options, onOverdue: (entry) => void refresh(entry) });
  const flights = createFlights(options, kept);

  async function refresh(entry: CacheEntry): Promise<boolean> {
    const { endpoint } = entry.question;
    // If it fails, it is tried again after a full interval, so that a broken engine is not flooded.
    entry.dueMs = now() + (endpoint.warmingSeconds ?? 0) * 1000;
    try {
      const hasComputed = await flights.refresh(entry);
      if (hasComputed) onRefresh(endpoint);
      return hasComputed;
    } catch (error) {
      onRefresh(endpoint, error);
      return false;
    }
  }

  function toServed(answer: Answer, outcome: CacheOutcome): Served {
    return { answer, outcome, ageSeconds: ageSeconds(answer, now()) };
  }

  /** Finds an answer younger than so many seconds: of this replica, or else of another, which is then kept here. */
  async function findWithin(question: Question, seconds: number): Promise<Answer | undefined> {
    const own = store.get(question.key)?.answer;
    if (own !== undefined && isYounger(own, seconds, now())) return own;
    const answer = seconds === 0 ? undefined : await flights.findShared(question);
    if (answer === undefined || !isYounger(answer, seconds, now())) return undefined;
    return kept.keep(question, answer, now());
  }

  /** Finds an answer past its time while the engine is unavailable. @throws `error` if none is kept or allowed */
  async function serveStale(error: unknown, question: Question): Promise<Served> {
    if (!isUnavailable(error)) throw error;
    const found = await findWithin(question, (question.endpoint.cachingSeconds ?? 0) + staleIfErrorSeconds);
    if (found === undefined) throw error;
    return toServed(found, 'stale');
  }

  /** Finds the answer of another replica: this one has none, and no query may run. @throws TailraceError `not_cached` */
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
      return toServed(value.answer, joined ? 'collapsed' : value.outcome);
    } catch (error) {
      if (caller.maxAgeSeconds !== undefined) throw error; // a caller that bounds the age accepts no older answer
      return await serveStale(error, question);
    }
  }

  return {
    find: kept.find,
    warmKeys: kept.warmKeys,
    /**
     * Computes a kept answer again and replaces it; if that fails, the old one stays. One of several replicas
     * computes, and the others copy its answer. Never rejects. @returns whether this one has computed it
     */
    refresh,
    /**
     * Returns an answer that `find` has not found: from another replica, from a flight that is under way, or from a
     * query. Failures are never kept.
     * @throws TailraceError `not_cached` if the caller demands a kept answer; the failure of the query
     */
    async compute(question: Question, caller: CallerOptions = {}): Promise<Served> {
      const { endpoint } = question;
      if (endpoint.cachingSeconds === undefined || caller.noStore === true) {
        if (caller.onlyIfCached === true) throw notCached(endpoint);
        return toServed(await run(question, caller), 'bypass');
      }
      return await (caller.onlyIfCached === true ? serveShared(question, caller) : query(question, caller));
    },
  };
}

function notCached({ name, cachingSeconds }: Endpoint): TailraceError {
  const why =
    cachingSeconds === undefined ? `${name} is not cached` : `no cached answer of ${name} is recent enough`;
  return new TailraceError('not_cached', `${why}, and only-if-cached asks for no other`);
}

/** Whether a failure is not due to the query: it may succeed a little later. */
const isUnavailable = (error: unknown) =>
  error instanceof TailraceError && (error.code === 'engine_unavailable' || error.code === 'overloaded');

interface FlightCaller extends CallerOptions {
  /** Stores a refreshed entry. One that left the store during its refresh gets its earlier age back. */
  readonly lastAskedMs: number;
  /** The right to compute for all replicas; if left out, another one may be computing already. */
  readonly lease?: Lease | undefined;
}

// No key has this id: those of the environment are called private and public, others are hexadecimal.
const WARMER_LANE = 'warmer';
// The pause while another replica computes the due refresh.
const PROBE_AGAIN_MS = 1_000;

/** Creates the flights. Their answers are kept. */
function createFlights({ run, shared, now, staleIfErrorSeconds }: CachedOptions, kept: Kept) {
  const flights = createSingleFlight<FlightResult>();

  /** A caller's own SELECT is not shared: nobody else sends it, and it would fill the memory of all replicas. */
  const replicasOf = ({ endpoint }: Question) => (isAdHoc(endpoint) ? undefined : shared);

  /** @param seconds how old an answer of another replica may be; 0: none will do */
  async function obtain(computation: Computation, seconds: number, lease?: Lease): Promise<FlightResult> {
    const { question, compute, signal } = computation;
    const replicas = replicasOf(question);
    if (replicas === undefined) return { answer: await compute(signal), outcome: 'miss' };
    if (lease !== undefined || seconds === 0) return await replicas.compute(computation, lease);
    return await replicas.obtain(computation, (answer) => isYounger(answer, seconds, now()));
  }

  /** Starts or joins one flight for all that wait for a question; a caller that bounds the age has its own. */
  function fly(question: Question, caller: FlightCaller) {
    const { key, endpoint } = question;
    const { signal, lane, requestId, lease, lastAskedMs } = caller;
    const seconds = acceptedSeconds(endpoint, caller);
    const start: Flight<FlightResult> = async (flightSignal, onJoin) => {
      const lifeSeconds = (endpoint.cachingSeconds ?? 0) + staleIfErrorSeconds;
      const compute = (computeSignal: AbortSignal) =>
        run(question, { signal: computeSignal, lane, onJoin, requestId });
      const obtained = await obtain({ question, lifeSeconds, compute, signal: flightSignal }, seconds, lease);
      return { ...obtained, answer: kept.keep(question, obtained.answer, lastAskedMs) };
    };
    // An answer of another replica may be too old for a caller that bounds the age.
    const isBounded = shared !== undefined && seconds !== endpoint.cachingSeconds;
    const name = isBounded ? `${key} of ${seconds} s` : key;
    // A flight that is under way does not know the lease, and may itself be waiting for it.
    if (flights.has(name)) lease?.();
    return flights.run(name, start, { signal, name: lane });
  }

  return {
    fly,
    /** @returns whether this replica has computed the answer */
    async refresh(entry: CacheEntry): Promise<boolean> {
      const { question, answer, lastAskedMs } = entry;
      const replicas = replicasOf(question);
      const claim = replicas && (await replicas.claimRefresh(question, answer));
      if (claim === 'held') {
        entry.dueMs = now() + PROBE_AGAIN_MS;
        return false;
      }
      if (claim !== undefined && 'answer' in claim) {
        kept.keep(question, claim.answer, entry.lastAskedMs);
        return false;
      }
      await fly(question, { lane: WARMER_LANE, lease: claim?.lease, lastAskedMs });
      return true;
    },
    /** An answer of any age that another replica has shared. */
    findShared: async (question: Question) => await replicasOf(question)?.find(question),
  };
}

interface WarmerOptions {
  readonly store: CacheStore;
  readonly cached: CachedQueries;
  /** The served endpoints; another array if they have changed. */
  readonly endpoints: () => readonly Endpoint[];
  readonly now: () => number;
}

/**
 * Keeps answers warm (spec 2.1 cache warming, 4.1 rule 4, 4.3 rule 4): one that was requested within the last
 * `caching` seconds is refreshed every `cache_warming` seconds. Refreshes run one at a time, since callers' queries
 * come first: an answer whose turn has not come is refreshed when it is requested next. A refresh that fails leaves
 * the good answer for the rest of its life.
 */
export function createWarmer({ store, cached, endpoints, now }: WarmerOptions) {
  let running: Promise<void> | undefined;
  let served = endpoints();
  let current = new Set(served.map(nameOf));

  /** Removes entries of definitions that have changed or gone: their questions can no longer be asked. */
  function followDefinitions(): void {
    if (served === endpoints()) return;
    served = endpoints();
    current = new Set(served.map(nameOf));
    for (const [key, entry] of [...store.entries()]) if (!isCurrent(entry)) store.delete(key);
  }

  function isCurrent({ question }: CacheEntry): boolean {
    return current.has(nameOf(question.endpoint));
  }

  function findDue(key: string): CacheEntry | undefined {
    const entry = store.peek(key); // not a use: it would make the entry stay longer
    if (entry === undefined || !isCurrent(entry) || entry.dueMs > now()) return undefined;
    const { cachingSeconds = 0 } = entry.question.endpoint;
    return now() - entry.lastAskedMs <= cachingSeconds * 1000 ? entry : undefined;
  }

  return {
    /** Starts a refresh that is due, unless one is running. Called about once a second. */
    tick(): void {
      followDefinitions();
      if (running !== undefined) return;
      for (const key of cached.warmKeys()) {
        const entry = findDue(key);
        if (entry === undefined) continue;
        running = cached.refresh(entry).then(() => {
          running = undefined;
        });
        return;
      }
    },
    /** Resolves when no refresh is running. */
    idle: async () => await running,
  };
}

const nameOf = ({ id, hash }: Endpoint) => id + hash;
