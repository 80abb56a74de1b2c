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

interface Wanted {
  readonly key: string;
  readonly entry: CacheEntry;
  readonly endpoint: Endpoint;
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

  /** Answers to be kept warm, as many as may be. Those of definitions that have changed or gone leave the store. */
  function findWanted(): Wanted[] {
    const wanted: Wanted[] = [];
    for (const [key, entry] of [...store.entries()]) {
      const endpoint = findEndpoint(entry.endpointId);
      if (endpoint?.hash !== entry.endpointHash) {
        store.delete(key); // nobody can ask for it any more
        continue;
      }
      const { cachingSeconds = 0, warmingSeconds } = endpoint;
      const asked = now() - entry.lastAskedMs <= cachingSeconds * 1000;
      if (warmingSeconds !== undefined && asked) wanted.push({ key, entry, endpoint });
    }
    if (wanted.length <= keysMax) return wanted;
    // The order of the store does not tell who was asked for last: a refresh is a use there.
    return wanted.sort((a, b) => b.entry.lastAskedMs - a.entry.lastAskedMs).slice(0, keysMax);
  }

  return {
    tick() {
      for (const { key, entry, endpoint } of findWanted()) {
        if (running.size >= concurrencyMax) return;
        if (entry.dueMs > now() || running.has(key)) continue;
        running.set(key, refresh(key, entry, endpoint));
      }
    },
    async idle() {
      await Promise.all(running.values());
    },
  };
}
