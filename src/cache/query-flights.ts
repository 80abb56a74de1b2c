import type { Endpoint } from '../definitions/endpoint.ts';
import { createSingleFlight, type Flight } from '../lib/single-flight.ts';
import type { Question } from '../query/question.ts';
import type { Answer } from '../query/run.ts';
import { isCallersOwn } from '../query/sandbox/base.ts';
import type { Refresh } from './incremental.ts';
import type { Computation, Obtained, SharedFlights } from './shared/flight.ts';
import type { Lease } from './shared/shared-cache.ts';
import {
  acceptedSeconds,
  type CacheEntry,
  type CacheStore,
  type CallerOptions,
  isYounger,
  type Kept,
} from './store.ts';

export interface QueryFlightsOptions {
  readonly store: CacheStore;
  readonly kept: Kept;
  /** Computes the answers that are kept. */
  readonly refresh: Refresh;
  /** Answers of other replicas; `undefined` if there is one replica. */
  readonly shared?: SharedFlights | undefined;
  /** How much longer than `caching` an answer is served while the engine is unavailable; 0: no longer. */
  readonly staleIfErrorSeconds: number;
  /** ms since the epoch. */
  readonly now: () => number;
}

/** The computations that are under way. Their answers are kept. */
export interface QueryFlights {
  /** One flight for all callers and the warmer that wait for a question; a caller that bounds the age has its own. */
  fly(question: Question, caller: FlightCaller): Promise<{ value: Obtained; joined: boolean }>;
  /** See `CachedQueries.refresh`. */
  refresh(entry: CacheEntry): Promise<boolean>;
  /** An answer of any age that another replica has shared. */
  findShared(question: Question): Promise<Answer | undefined>;
}

interface FlightCaller extends CallerOptions {
  /** An entry that left the store during its refresh returns no younger than it was. */
  readonly lastAskedMs: number;
  /** The right to compute for all replicas; if left out, another one may be computing already. */
  readonly claim?: { readonly lease: Lease | undefined } | undefined;
}

// No key has this id: those of the environment are called private and public, others are hexadecimal.
const WARMER_LANE = 'warmer';
// While another replica computes the refresh that is due.
const PROBE_AGAIN_MS = 1_000;

export function createQueryFlights(options: QueryFlightsOptions): QueryFlights {
  const { store, kept, shared, now, staleIfErrorSeconds } = options;
  const flights = createSingleFlight<Obtained>();

  /** No other caller asks what a caller's own SELECT asks: sharing it would only fill the memory of all replicas. */
  const replicasOf = ({ endpoint }: Question) => (isCallersOwn(endpoint) ? undefined : shared);

  const fly: QueryFlights['fly'] = (question, caller) => {
    const { key, endpoint } = question;
    const { signal, lane, requestId, claim, lastAskedMs } = caller;
    const seconds = acceptedSeconds(endpoint, caller);
    const base = mayReuse(endpoint, caller) ? store.peek(key)?.answer : undefined;
    const isGood = (answer: Answer) => isYounger(answer, seconds, now());
    const start: Flight<Obtained> = async (flightSignal, onJoin) => {
      const compute = (computeSignal: AbortSignal) =>
        options.refresh(question, base, { signal: computeSignal, lane, onJoin, requestId });
      const lifeSeconds = (endpoint.cachingSeconds ?? 0) + staleIfErrorSeconds;
      const computation = { question, lifeSeconds, compute, signal: flightSignal };
      const wanted = { ...computation, isGood: seconds === 0 ? undefined : isGood, claim };
      const obtained = await obtain(replicasOf(question), wanted);
      return { ...obtained, answer: kept.keep(question, obtained.answer, lastAskedMs) };
    };
    // An answer of another replica may be too old for a caller that bounds the age.
    const isBounded = shared !== undefined && seconds !== endpoint.cachingSeconds;
    const name = key + (isBounded ? ` of ${seconds} s` : base === undefined ? '' : ' from the kept');
    // A flight that is under way does not know the lease, and may itself be waiting for it.
    if (flights.has(name)) void claim?.lease?.release();
    return flights.run(name, start, { signal, name: lane });
  };

  return {
    fly,
    async refresh(entry) {
      const { question, answer, lastAskedMs } = entry;
      const replicas = replicasOf(question);
      const claim = replicas && (await replicas.claim(question, answer));
      if (claim?.kind === 'held') entry.dueMs = now() + PROBE_AGAIN_MS;
      if (claim?.kind === 'shared') kept.keep(question, claim.answer, entry.lastAskedMs);
      if (claim !== undefined && claim.kind !== 'ours') return false;
      try {
        await fly(question, { lane: WARMER_LANE, claim, lastAskedMs });
      } catch (error) {
        await claim?.lease?.release();
        throw error;
      }
      return true;
    },
    findShared: async (question) => await replicasOf(question)?.find(question),
  };
}

interface Wanted extends Computation, Pick<FlightCaller, 'claim'> {
  /** `undefined`: no answer of another replica is good. */
  readonly isGood: ((answer: Answer) => boolean) | undefined;
}

async function obtain(replicas: SharedFlights | undefined, wanted: Wanted): Promise<Obtained> {
  const { isGood, claim, ...computation } = wanted;
  if (replicas === undefined)
    return { answer: await computation.compute(computation.signal), origin: 'engine' };
  if (claim !== undefined || isGood === undefined) return await replicas.compute(computation, claim?.lease);
  return await replicas.obtain({ ...computation, isGood });
}

/** Whether rows of the kept answer may be reused: of an endpoint with time buckets, unless the caller bounds the age. */
function mayReuse({ bucket }: Endpoint, { maxAgeSeconds }: CallerOptions): boolean {
  return bucket !== undefined && maxAgeSeconds === undefined;
}
