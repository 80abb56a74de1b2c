import { LRUCache } from 'lru-cache';
import { TailraceError } from '../../errors.ts';

/** Refuses for a while what has ended the engine process twice, so that it does not go on ending it. */
export interface Suspects {
  /** @throws TailraceError `engine_unavailable` while the statement is refused */
  check(statement: string): void;
  /** It ran when the process ended. */
  suspect(statement: string): void;
  /** It ended by itself, so it was another one that ended the process. */
  clear(statement: string): void;
}

const TIMES_MAX = 2;
const REFUSED_MS = 300_000;
// Past it the one seen longest ago is forgotten, and may end the process two more times.
const SUSPECTS_MAX = 1_000;

/** @param now ms */
export function createSuspects(now: () => number = () => performance.now()): Suspects {
  const times = new LRUCache<string, number>({
    max: SUSPECTS_MAX,
    ttl: REFUSED_MS,
    ttlResolution: 0,
    perf: { now },
  });
  return {
    check(statement) {
      if (times.size === 0 || (times.get(statement) ?? 0) < TIMES_MAX) return;
      const retryAfterSeconds = Math.ceil(times.getRemainingTTL(statement) / 1000);
      const message = `this query has ended the engine ${TIMES_MAX} times and is refused for ${retryAfterSeconds} s; ask for less`;
      throw new TailraceError('engine_unavailable', message, { retryAfterSeconds });
    },
    suspect: (statement) => void times.set(statement, (times.get(statement) ?? 0) + 1),
    clear(statement) {
      if (times.size > 0) times.delete(statement);
    },
  };
}
