import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { TailraceError } from '../../errors.ts';

/** What identifies a query and its caller; see `QueryOptions`. */
export interface SuspectQuery {
  readonly identity: string;
  readonly origin?: string | undefined;
  readonly lane?: string | undefined;
}

const TIMES_MAX = 2;
const REFUSED_MS = 300_000;
// For one key at one endpoint with any values, after the first, second and each further time: otherwise a caller could cause
// restart after restart with new values.
const KEY_REFUSED_MS = [5_000, 30_000, REFUSED_MS] as const;
// At the bound the least recently used one is dropped.
const SUSPECTS_MAX = 1_000;

export type Suspects = ReturnType<typeof createSuspects>;

/** Refuses queries that have ended the engine process, for a while. @param now ms */
export function createSuspects(now: () => number = () => performance.now()) {
  const options = { max: SUSPECTS_MAX, ttl: REFUSED_MS, ttlResolution: 0, perf: { now } };
  const queries = new LRUCache<string, { times: number; untilMs: number }>(options);
  const keys = new LRUCache<string, { times: number; untilMs: number }>(options);

  function refuseUntil(untilMs: number, what: string): void {
    const remainingMs = untilMs - now();
    if (remainingMs <= 0) return;
    const retryAfterSeconds = Math.ceil(remainingMs / 1000);
    const message = `${what} and is refused for ${retryAfterSeconds} s; ask for less`;
    throw new TailraceError('engine_unavailable', message, { retryAfterSeconds });
  }

  return {
    /** @throws TailraceError `engine_unavailable` while the query, or its key at its endpoint, is refused */
    check(query: SuspectQuery): void {
      const { untilMs = 0, times = 0 } = (queries.size > 0 && queries.get(digest(query))) || {};
      refuseUntil(untilMs, `this query has ended the engine ${times} times`);
      const key = keyOf(query);
      if (key === undefined) return;
      refuseUntil(keys.get(key)?.untilMs ?? 0, 'a query of this key to this endpoint has ended the engine');
    },
    /** Whether it ran when the process ended, and has not completed since. */
    has: (query: SuspectQuery) => queries.size > 0 && queries.has(digest(query)),
    /** Reports that it ran when the process ended. @param isCertain whether nothing else can have been the cause */
    suspect(query: SuspectQuery, isCertain: boolean): void {
      const statement = digest(query);
      const times = (queries.get(statement)?.times ?? 0) + 1;
      queries.set(statement, { times, untilMs: times < TIMES_MAX ? 0 : now() + REFUSED_MS });
      const key = keyOf(query);
      if (!isCertain || key === undefined) return;
      const before = keys.get(key)?.times ?? 0;
      keys.set(key, { times: before + 1, untilMs: now() + (KEY_REFUSED_MS[before] ?? REFUSED_MS) });
    },
    /** Reports that it completed, so it was not the culprit. */
    clear(query: SuspectQuery): void {
      if (queries.size > 0) queries.delete(digest(query));
    },
  };
}

/** Statements may have megabytes. */
function digest({ identity }: SuspectQuery): string {
  return hash('sha256', identity);
}

/** The key with its endpoint, which `origin` begins with; undefined for internal work. */
function keyOf({ lane, origin = '' }: SuspectQuery): string | undefined {
  return lane === undefined ? undefined : `${lane} ${origin.split(' ', 1)[0]}`;
}
