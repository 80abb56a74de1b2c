import type { Endpoint } from '../definitions/endpoint.ts';
import { acceptedSeconds, ageSecondsAt, isYoungerAt } from './age.ts';
import type { CachedOptions, CachedQueries } from './cached.ts';
import type { QueryFlights } from './query-flights.ts';
import type { CacheEntry } from './store.ts';
import type { WarmKeys } from './warm-keys.ts';

export interface HitParts extends Pick<CachedOptions, 'store' | 'now' | 'onRefresh'> {
  readonly flights: Pick<QueryFlights, 'refresh'>;
  readonly warmKeys: Pick<WarmKeys, 'remember'>;
}

/** Answers that this replica keeps and that are young enough. */
export function createHits(parts: HitParts): Pick<CachedQueries, 'findHit' | 'noteUse'> {
  const { store, now, flights, warmKeys, onRefresh } = parts;

  /** The warmer has not got to it, or had to leave it out: the caller is not the one to wait for that. */
  function refreshIfDue(key: string, endpoint: Endpoint, entry: CacheEntry): void {
    const { warmingSeconds } = endpoint;
    if (warmingSeconds === undefined || entry.dueMs > now()) return;
    if (isYoungerAt(now(), entry.answer, warmingSeconds)) return;
    entry.dueMs = now() + warmingSeconds * 1000;
    flights.refresh(key, endpoint, entry).then(
      (isOurs) => isOurs && onRefresh(endpoint),
      (error) => onRefresh(endpoint, error),
    );
  }

  return {
    findHit(key, endpoint, maxAgeSeconds) {
      const kept = store.peek(key);
      const seconds = acceptedSeconds(endpoint, maxAgeSeconds);
      if (kept === undefined || !isYoungerAt(now(), kept.answer, seconds)) return undefined;
      return { answer: kept.answer, outcome: 'hit', ageSeconds: ageSecondsAt(now(), kept.answer) };
    },
    noteUse(key, endpoint) {
      const kept = store.get(key);
      if (kept === undefined) return;
      kept.lastAskedMs = now();
      warmKeys.remember(key, endpoint);
      refreshIfDue(key, endpoint, kept);
    },
  };
}
