import type { Endpoint } from '../definitions/endpoint.ts';
import { createSingleFlight, type Flight } from '../lib/single-flight.ts';
import type { Answer, RunOptions } from '../query/run.ts';
import { isCallersOwn } from '../query/sandbox/base.ts';
import { acceptedSeconds, isYoungerAt } from './age.ts';
import type { Refresh } from './incremental.ts';
import type { Asked, Keep, KeepOptions } from './keep.ts';
import type { Making, Obtained, Question, SharedFlights } from './shared/flight.ts';
import type { Lease } from './shared/shared-cache.ts';
import type { CacheEntry } from './store.ts';

/** Who asks: how to stop waiting, the lane in which the query waits for the engine, and how old the answer may be. */
export interface CallerOptions extends Omit<RunOptions, 'onJoin'> {
  /** Less than the endpoint's caching where the caller wants it so; 0 asks for a query of now. */
  readonly maxAgeSeconds?: number | undefined;
  /** The answer is made for this caller alone and kept nowhere. */
  readonly noStore?: boolean;
  /** No query is run: without a kept answer that is young enough the call fails with `not_cached`. */
  readonly onlyIfCached?: boolean;
}

export interface QueryFlightsOptions extends KeepOptions {
  /** Makes the answers that are kept. */
  readonly refresh: Refresh;
  /** Answers of other replicas; without them there are none. */
  readonly shared?: SharedFlights | undefined;
  /** How much longer than `caching` an answer is served while the engine is away; 0: no longer. */
  readonly staleIfErrorSeconds: number;
}

/** The queries that are under way, whose answers are kept. */
export interface QueryFlights {
  /** One query for all who wait for this key, callers and warmer alike; those who want a query of now have their own. */
  fly(
    key: string,
    endpoint: Endpoint,
    asked: Asked,
    caller: FlightCaller,
  ): Promise<{ value: Obtained; joined: boolean }>;
  /** As `CachedQueries.refresh`. */
  refresh(key: string, endpoint: Endpoint, entry: CacheEntry): Promise<boolean>;
  /** An answer of any age that another replica has put where all find it. */
  findShared(key: string, endpoint: Endpoint): Promise<Answer | undefined>;
}

interface FlightCaller extends CallerOptions {
  /** To make the answer for all replicas; without it others may be at it. */
  readonly turn?: { readonly lease: Lease | undefined } | undefined;
}

// No key has this id: those of the environment are called private and public, others begin with a prefix of theirs.
const WARMER_LANE = 'warmer';
// While another replica makes the refresh that is due.
const LOOK_AGAIN_MS = 1_000;

export function createQueryFlights(options: QueryFlightsOptions, keep: Keep): QueryFlights {
  const { store, shared, now, staleIfErrorSeconds } = options;
  const flights = createSingleFlight<Obtained>();

  /** What a caller sends in of his own is no other's question: it would only fill the memory of all. */
  const othersOf = (endpoint: Endpoint) => (isCallersOwn(endpoint) ? undefined : shared);

  const fly: QueryFlights['fly'] = (key, endpoint, asked, caller) => {
    const { signal, lane, requestId, turn } = caller;
    const seconds = acceptedSeconds(endpoint, caller.maxAgeSeconds);
    const kept = mayReuse(endpoint, caller) ? store.peek(key)?.answer : undefined;
    const life = { seconds: (endpoint.cachingSeconds ?? 0) + staleIfErrorSeconds };
    const isGood = (answer: Answer) => isYoungerAt(now(), answer, seconds);
    const start: Flight<Obtained> = async (flightSignal, onJoin) => {
      const make = (how: AbortSignal) =>
        options.refresh(endpoint, { ...asked, kept }, { signal: how, lane, onJoin, requestId });
      const question = { key, life, make, signal: flightSignal, isGood: seconds === 0 ? undefined : isGood };
      const obtained = await obtain(othersOf(endpoint), { ...question, turn });
      return { ...obtained, answer: keep(key, endpoint, obtained.answer, asked) };
    };
    // An answer of another replica may be too old for a caller who bounds the age.
    const isBounded = shared !== undefined && seconds !== endpoint.cachingSeconds;
    const own = isBounded ? ` of ${seconds} s` : kept === undefined ? '' : ' from the kept';
    // A flight that is under way knows nothing of the lease, and may itself be waiting for it to be free.
    if (flights.has(key + own)) void turn?.lease?.free();
    return flights.run(key + own, start, { signal, name: lane });
  };

  return {
    fly,
    async refresh(key, endpoint, entry) {
      const others = othersOf(endpoint);
      const turn = others && (await others.takeTurn(key, entry.answer));
      if (turn?.kind === 'held') entry.dueMs = now() + LOOK_AGAIN_MS;
      if (turn?.kind === 'shared') keep(key, endpoint, turn.answer, entry);
      if (turn !== undefined && turn.kind !== 'ours') return false;
      try {
        await fly(key, endpoint, entry, { lane: WARMER_LANE, turn });
      } catch (error) {
        await turn?.lease?.free();
        throw error;
      }
      return true;
    },
    findShared: async (key, endpoint) => await othersOf(endpoint)?.find(key),
  };
}

/** Without other replicas the answer is simply made. @param question.isGood `undefined`: no answer of theirs will do */
async function obtain(
  others: SharedFlights | undefined,
  question: Making & Pick<FlightCaller, 'turn'> & { readonly isGood: Question['isGood'] | undefined },
): Promise<Obtained> {
  const { isGood, turn, ...making } = question;
  if (others === undefined) return { answer: await making.make(making.signal), origin: 'engine' };
  if (turn !== undefined || isGood === undefined) return await others.make(making, turn?.lease);
  return await others.obtain({ ...making, isGood });
}

/** Whether rows of the kept answer may be taken over: of an endpoint with buckets, for a caller who does not want a query of now. */
function mayReuse({ bucket }: Endpoint, { maxAgeSeconds }: Pick<CallerOptions, 'maxAgeSeconds'>): boolean {
  return bucket !== undefined && maxAgeSeconds === undefined;
}
