import { LRUCache } from 'lru-cache';
import { TailraceError } from '../../errors.ts';
import { keyOfLane } from '../lanes.ts';

/** A query that was running when the engine process ended. */
export interface SuspectQuery {
  readonly lane?: string | undefined;
  /** Whether it was running for the second time, since an earlier process ended under it. */
  readonly isAgain: boolean;
}

// By the number of ends: a process may crash once without any query's fault. Bounded, since the fault may be the
// endpoint's, and may be fixed.
const WAIT_MS = [0, 5_000, 30_000, 300_000, 900_000, 3_600_000] as const;
const WAIT_MS_MAX = WAIT_MS[5];
// Longer than any wait: a key that only waits for its end would begin with the shortest again.
const REMEMBERED_MS = 2 * WAIT_MS_MAX;
// At the bound the least recently used one is dropped.
const KEYS_MAX = 1_000;

export type Suspects = ReturnType<typeof createSuspects>;

/**
 * Makes a key wait, with all its tokens, whose queries were running at two ends of the engine process: longer each
 * time. @param now ms
 */
export function createSuspects(now: () => number = () => performance.now()) {
  const keys = new LRUCache<string, { ends: number; untilMs: number }>({
    ...{ max: KEYS_MAX, ttl: REMEMBERED_MS, ttlResolution: 0, perf: { now } },
  });
  const endsOf = ({ lane }: SuspectQuery) =>
    lane === undefined ? 0 : (keys.get(keyOfLane(lane))?.ends ?? 0);

  /**
   * The queries that were running again run one at a time, so the process ended because of one of them, if there is
   * one; otherwise because of a key that has ended it before, if one is there. So a key that keeps ending it makes no
   * other key wait.
   */
  function findSuspects<Query extends SuspectQuery>(running: readonly Query[]): readonly Query[] {
    const again = running.filter(({ isAgain }) => isAgain);
    if (again.length > 0) return again;
    const most = Math.max(...running.map(endsOf));
    return running.filter((query) => endsOf(query) === most);
  }

  return {
    /** @throws TailraceError `engine_unavailable` while the key of a lane has to wait */
    check(lane: string | undefined): void {
      if (lane === undefined || keys.size === 0) return;
      const remainingMs = (keys.get(keyOfLane(lane))?.untilMs ?? 0) - now();
      if (remainingMs <= 0) return;
      const retryAfterSeconds = Math.ceil(remainingMs / 1000);
      const message = `queries of this key have ended the engine and are rejected for ${retryAfterSeconds} s; ask for less`;
      throw new TailraceError('engine_unavailable', message, { retryAfterSeconds });
    },
    /**
     * Counts an end of the process. If the queries of several keys may be the cause, none has to wait yet.
     *
     * @param running on that process
     * @returns the queries that may have ended it
     */
    count<Query extends SuspectQuery>(running: readonly Query[]): readonly Query[] {
      const suspects = findSuspects(running);
      const ended = new Set(suspects.map(({ lane = '' }) => keyOfLane(lane)));
      for (const key of ended) {
        const { ends: before = 0, untilMs = 0 } = keys.get(key) ?? {};
        const ends = ended.size === 1 ? before + 1 : Math.max(before, 1);
        const waitMs = ends === before ? 0 : (WAIT_MS[ends - 1] ?? WAIT_MS_MAX);
        keys.set(key, { ends, untilMs: Math.max(untilMs, now() + waitMs) });
      }
      return suspects;
    },
  };
}
