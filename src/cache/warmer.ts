import type { Endpoint } from '../definitions/endpoint.ts';
import type { CachedQueries } from './cached.ts';
import type { CacheEntry, CacheStore } from './store.ts';

export interface Warmer {
  /** Begins the refreshes that are due, as far as the bounds allow. Called about once a second. */
  tick(): void;
  /** Resolves when no refresh runs any more. */
  idle(): Promise<void>;
}

export interface WarmerOptions {
  readonly store: CacheStore;
  readonly cached: CachedQueries;
  readonly findEndpoint: (id: string) => Endpoint | undefined;
  readonly now: () => number;
  /** Answers kept warm, those asked for last first. */
  readonly keysMax: number;
  /** Refreshes at once. */
  readonly concurrencyMax: number;
  readonly onRefresh: (endpoint: Endpoint, error?: unknown) => void;
}

/**
 * Keeps answers warm (spec 2.1 cache warming, 4.1 rule 4, 4.3 rule 4): one that was asked for within the last `caching`
 * seconds is refreshed every `cache_warming` seconds. A refresh that fails leaves the good answer for the rest of its life.
 */
export function createWarmer(options: WarmerOptions): Warmer {
  const { store, cached, findEndpoint, now, keysMax, concurrencyMax, onRefresh } = options;
  const running = new Map<string, Promise<void>>();

  async function refresh(key: string, entry: CacheEntry, endpoint: Endpoint): Promise<void> {
    // Tried again after a full interval if it fails, so that a broken engine is not hammered.
    entry.dueMs = now() + (endpoint.warmingSeconds ?? 0) * 1000;
    try {
      await cached.refresh(key, endpoint, entry);
      onRefresh(endpoint);
    } catch (error) {
      onRefresh(endpoint, error);
    } finally {
      running.delete(key);
    }
  }

  return {
    tick() {
      let seen = 0;
      for (const [key, entry] of [...store.entries()]) {
        const endpoint = findEndpoint(entry.endpointId);
        if (endpoint?.hash !== entry.endpointHash) {
          store.delete(key); // its definition has changed or gone: nobody can ask for it any more
          continue;
        }
        if (++seen > keysMax || running.size >= concurrencyMax) return;
        const wanted = now() - entry.lastAskedMs <= (endpoint.cachingSeconds ?? 0) * 1000;
        if (!wanted || entry.dueMs > now() || running.has(key)) continue;
        running.set(key, refresh(key, entry, endpoint));
      }
    },
    async idle() {
      await Promise.all(running.values());
    },
  };
}
