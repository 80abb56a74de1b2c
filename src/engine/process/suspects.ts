import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { TailraceError } from '../../errors.ts';
import { keyOfLane } from '../lanes.ts';

/** The identity of a query and its caller; see `QueryOptions`. */
export interface SuspectQuery {
  readonly identity: string;
  readonly origin?: string | undefined;
  readonly lane?: string | undefined;
}

/** The evidence that a key's query ended the process. */
export interface Fault {
  /** Number of the end: a key is counted once for each, however many of its queries ran. */
  readonly end: number;
  /** No other key's query can have been the cause. */
  readonly isCertain: boolean;
}

interface KeyFaults {
  readonly times: number;
  readonly untilMs: number;
  /** Number of the last end. */
  readonly end: number;
  /** `undefined`: several endpoints. */
  readonly endpoint: string | undefined;
}

const TIMES_MAX = 2;
const REFUSED_MS = 300_000;
// For one key with all its tokens, after the first and each further time: otherwise a caller could cause restart after restart with
// new values or tokens. Bounded, since the fault may be the endpoint's, and may be fixed.
const KEY_REFUSED_MS = [5_000, 30_000, 300_000, 900_000, 3_600_000] as const;
const KEY_REFUSED_MS_MAX = KEY_REFUSED_MS[4];
// Longer than any rejection: a caller who only waits for its end would begin with the shortest again.
const KEY_REMEMBERED_MS = 2 * KEY_REFUSED_MS_MAX;
// At the bound the least recently used one is dropped.
const SUSPECTS_MAX = 1_000;

export type Suspects = ReturnType<typeof createSuspects>;

/** Rejects queries that have ended the engine process, for a while. @param now ms */
export function createSuspects(now: () => number = () => performance.now()) {
  const options = { max: SUSPECTS_MAX, ttlResolution: 0, perf: { now } };
  const queries = new LRUCache<string, { times: number; untilMs: number }>({ ...options, ttl: REFUSED_MS });
  const keys = new LRUCache<string, KeyFaults>({ ...options, ttl: KEY_REMEMBERED_MS });

  function refuseUntil(untilMs: number, what: string): void {
    const remainingMs = untilMs - now();
    if (remainingMs <= 0) return;
    const retryAfterSeconds = Math.ceil(remainingMs / 1000);
    const message = `${what} rejected for ${retryAfterSeconds} s; ask for less`;
    throw new TailraceError('engine_unavailable', message, { retryAfterSeconds });
  }

  return {
    /** @throws TailraceError `engine_unavailable` while the query, or its key at its endpoint, is rejected */
    check(query: SuspectQuery): void {
      const { untilMs = 0, times = 0 } = (queries.size > 0 && queries.get(digest(query))) || {};
      refuseUntil(untilMs, `this query has ended the engine ${times} times and is`);
      if (query.lane === undefined || keys.size === 0) return;
      const faults = keys.get(keyOfLane(query.lane));
      if (faults === undefined) return;
      if (faults.endpoint === undefined)
        refuseUntil(faults.untilMs, 'queries of this key to several endpoints have ended the engine and are');
      if (faults.endpoint === endpointOf(query))
        refuseUntil(faults.untilMs, 'a query of this key to this endpoint has ended the engine and is');
    },
    /** Whether it ran when the process ended, and has not completed since. */
    has: (query: SuspectQuery) => queries.size > 0 && queries.has(digest(query)),
    /** Reports that it ran when the process ended. */
    suspect(query: SuspectQuery, { end, isCertain }: Fault): void {
      const statement = digest(query);
      const times = (queries.get(statement)?.times ?? 0) + 1;
      queries.set(statement, { times, untilMs: times < TIMES_MAX ? 0 : now() + REFUSED_MS });
      if (!isCertain || query.lane === undefined) return;
      const key = keyOfLane(query.lane);
      keys.set(key, addFault(keys.get(key), { end, endpoint: endpointOf(query), nowMs: now() }));
    },
    /** Reports that it completed, so it was not the culprit. */
    clear(query: SuspectQuery): void {
      if (queries.size > 0) queries.delete(digest(query));
    },
  };
}

/**
 * After faults at several endpoints the key is rejected everywhere: callers choose the names of drafts, and a key that may call many
 * endpoints would restart the engine at each.
 */
function addFault(
  before: KeyFaults | undefined,
  { end, endpoint, nowMs }: { readonly end: number; readonly endpoint: string; readonly nowMs: number },
): KeyFaults {
  const earlier = before?.times ?? 0;
  const times = before?.end === end ? earlier : earlier + 1;
  const untilMs = nowMs + (KEY_REFUSED_MS[times - 1] ?? KEY_REFUSED_MS_MAX);
  const isElsewhere = before !== undefined && before.endpoint !== endpoint;
  return { times, untilMs, end, endpoint: isElsewhere ? undefined : endpoint };
}

/** Statements may have megabytes. */
function digest({ identity }: SuspectQuery): string {
  return hash('sha256', identity);
}

/** Returns the endpoint, with which `origin` begins. */
function endpointOf({ origin = '' }: SuspectQuery): string {
  return origin.split(' ', 1)[0] ?? '';
}
