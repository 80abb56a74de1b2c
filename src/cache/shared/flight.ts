import { queryTimeout } from '../../engine/gate.ts';
import { createDeadline } from '../../lib/abort.ts';
import type { Background } from '../../lib/background.ts';
import type { Question } from '../../query/question.ts';
import type { Answer } from '../../query/run.ts';
import { type Claim, createClaims, type LeaseHeld } from './claim.ts';
import type { Lease } from './lease.ts';
import type { SharedCache } from './redis-cache.ts';

/** An answer, and whether this replica's engine computed it or another replica shared it. */
export interface FlightResult {
  readonly answer: Answer;
  readonly origin: 'engine' | 'shared';
}

export interface Computation {
  readonly question: Question;
  /** How long the answer may be served, counted from the instant of its query. */
  readonly lifeSeconds: number;
  readonly compute: (signal: AbortSignal) => Promise<Answer>;
  /** Aborts when no caller waits any more. */
  readonly signal: AbortSignal;
}

export type SharedFlights = ReturnType<typeof createSharedFlights>;

/** Outcome of a look-up in the shared cache; `taken`: another replica has computed the refresh that was due. */
export type Lookup = 'hit' | 'miss' | 'taken';

export interface SharedFlightsOptions {
  readonly shared: SharedCache;
  readonly background: Background;
  /** Longest that an answer may take, including the wait for other replicas. */
  readonly queryTimeoutMs: number;
  readonly onLookup: (result: Lookup) => void;
}

// The rest of the time is left for this replica's own query.
const WAIT_SHARE = 0.5;

/** Runs one computation for all replicas that get the same question at the same time. After any failure each can compute for itself. */
export function createSharedFlights(options: SharedFlightsOptions) {
  const { shared, background, queryTimeoutMs, onLookup } = options;
  const claims = createClaims(shared, { background, waitMsMax: queryTimeoutMs * WAIT_SHARE });

  /** Computes the answer and shares it. @param lease released when the answer is there or has failed */
  async function compute(computation: Computation, lease?: Lease): Promise<FlightResult> {
    const { question, lifeSeconds, signal } = computation;
    try {
      const answer = await computation.compute(signal);
      // In this order: a replica that sees the lease released has to find the answer.
      background.run(shared.keep(question.key, answer, lifeSeconds).finally(() => lease?.release()));
      return { answer, origin: 'engine' };
    } catch (error) {
      if (lease !== undefined) background.run(lease.release());
      throw error;
    }
  }

  return {
    compute,
    /**
     * Returns the answer that is shared, or that another replica is computing; otherwise this one computes and shares it.
     *
     * @param wanted `isGood`: whether an answer of another replica is acceptable
     */
    async obtain(
      wanted: Computation & { readonly isGood: (answer: Answer) => boolean },
    ): Promise<FlightResult> {
      const late = () => queryTimeout(queryTimeoutMs);
      const { signal, clear } = createDeadline(queryTimeoutMs, late, wanted.signal);
      try {
        const claim = await claims.wait({ ...wanted, mark: '' }, signal);
        onLookup(claim.kind === 'shared' ? 'hit' : 'miss');
        if (claim.kind === 'shared') return { answer: claim.answer, origin: 'shared' };
        return await compute({ ...wanted, signal }, claim.lease);
      } finally {
        clear();
      }
    },
    /** Whether this replica is to compute the next answer: another may be computing it, or have shared it. */
    async claim(question: Question, kept: Answer): Promise<Claim | LeaseHeld> {
      const isGood = (answer: Answer) => answer.instantMs > kept.instantMs;
      const claim = await claims.claim({ question, isGood, mark: shared.markOf(kept) ?? '' });
      if (claim.kind === 'shared') onLookup('taken');
      return claim;
    },
    async find(question: Question): Promise<Answer | undefined> {
      const found = await shared.find(question);
      return found === 'none' ? undefined : found;
    },
  };
}
