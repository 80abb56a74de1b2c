import { TailraceError } from '../../errors.ts';
import { createDeadline } from '../../lib/abort.ts';
import type { Background } from '../../lib/background.ts';
import type { Answer } from '../../query/run.ts';
import type { Lease, Life, SharedCache } from './shared-cache.ts';
import { createTurns, type Turns } from './turn.ts';

/** An answer, and whether this replica has asked the engine for it or has it from the others. */
export interface Obtained {
  readonly answer: Answer;
  readonly origin: 'engine' | 'shared';
}

export interface Making {
  readonly key: string;
  readonly life: Life;
  /** Makes the answer. */
  readonly make: (signal: AbortSignal) => Promise<Answer>;
  /** Aborts when nobody waits for it any more. */
  readonly signal: AbortSignal;
}

export interface Question extends Making {
  /** Whether an answer of another replica will do. */
  readonly isGood: (answer: Answer) => boolean;
}

/** What the cache of one replica asks of those of all. */
export interface SharedFlights {
  /** The answer that is shared, or that another replica is making; else this one makes it, and shares it. */
  obtain(question: Question): Promise<Obtained>;
  /** Makes it, and shares it. @param lease freed when it is there, or has failed */
  make(making: Making, lease?: Lease): Promise<Obtained>;
  /** Whether this replica is to make the next answer of a key: another may be at it, or have done it. */
  takeTurn(key: string, kept: Answer): ReturnType<Turns['take']>;
  find(key: string): Promise<Answer | undefined>;
}

/** What came of asking the shared cache; `taken`: another replica has made the refresh that was due. */
export type Lookup = 'hit' | 'miss' | 'taken';

export interface SharedFlightsOptions {
  readonly shared: SharedCache;
  readonly background: Background;
  /** Longest that an answer may take, the waiting for other replicas included. */
  readonly queryTimeoutMs: number;
  readonly onLookup: (result: Lookup) => void;
}

// The rest of the time is left for a query of its own.
const WAIT_SHARE = 0.5;

/** One query for all replicas that are asked the same at a time. Whatever goes wrong on the way, each can make its own answer. */
export function createSharedFlights(options: SharedFlightsOptions): SharedFlights {
  const { shared, background, queryTimeoutMs, onLookup } = options;
  const turns = createTurns(shared, { background, waitMsMax: queryTimeoutMs * WAIT_SHARE });

  async function make({ key, life, make, signal }: Making, lease?: Lease): Promise<Obtained> {
    try {
      const answer = await make(signal);
      // In this order: whoever sees that the lease is free has to find the answer.
      background.run(shared.keep(key, answer, life).finally(() => lease?.free()));
      return { answer, origin: 'engine' };
    } catch (error) {
      if (lease !== undefined) background.run(lease.free());
      throw error;
    }
  }

  return {
    make,
    async obtain(question) {
      const { signal, clear } = createDeadline(
        queryTimeoutMs,
        () => createLate(queryTimeoutMs),
        question.signal,
      );
      try {
        const turn = await turns.wait({ ...question, mark: '' }, signal);
        onLookup(turn.kind === 'shared' ? 'hit' : 'miss');
        if (turn.kind === 'shared') return { answer: turn.answer, origin: 'shared' };
        return await make({ ...question, signal }, turn.lease);
      } finally {
        clear();
      }
    },
    async takeTurn(key, kept) {
      const isGood = (answer: Answer) => answer.instantMs > kept.instantMs;
      const turn = await turns.take({ key, isGood, mark: shared.markOf(kept) ?? '' });
      if (turn.kind === 'shared') onLookup('taken');
      return turn;
    },
    async find(key) {
      const found = await shared.find(key);
      return found === 'none' ? undefined : found;
    },
  };
}

function createLate(timeoutMs: number): TailraceError {
  return new TailraceError('query_timeout', `the query took longer than ${timeoutMs} ms and was stopped`);
}
