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
  /** Those being served; another array where they have changed. */
  readonly endpoints: () => readonly Endpoint[];
  readonly now: () => number;
  /** Refreshes at once. */
  readonly concurrencyMax: number;
  readonly onRefresh: (endpoint: Endpoint, error?: unknown) => void;
}

interface Wanted {
  readonly entry: CacheEntry;
  readonly endpoint: Endpoint;
}

/**
 * Keeps answers warm (spec 2.1 cache warming, 4.1 rule 4, 4.3 rule 4): one that was asked for within the last `caching`
 * seconds is refreshed every `cache_warming` seconds. A refresh that fails leaves the good answer for the rest of its life.
 */
export function createWarmer(options: WarmerOptions): Warmer {
  const { store, cached, endpoints, now, concurrencyMax, onRefresh } = options;
  const running = new Map<string, Promise<void>>();
  let served: readonly Endpoint[] = [];
  let byHash = new Map<string, Endpoint>();

  async function refresh(key: string, entry: CacheEntry, endpoint: Endpoint): Promise<void> {
    // Tried again after a full interval if it fails, so that a broken engine is not hammered.
    entry.dueMs = now() + (endpoint.warmingSeconds ?? 0) * 1000;
    try {
      if (await cached.refresh(key, endpoint, entry)) onRefresh(endpoint);
    } catch (error) {
      onRefresh(endpoint, error);
    } finally {
      running.delete(key);
    }
  }

  /** Answers of definitions that have changed or gone leave the store: nobody can ask for them any more. */
  function followDefinitions(): void {
    if (served === endpoints()) return;
    served = endpoints();
    byHash = new Map(served.map((endpoint) => [endpoint.id + endpoint.hash, endpoint]));
    for (const [key, entry] of [...store.entries()]) if (findEndpoint(entry) === undefined) store.delete(key);
  }

  function findEndpoint(entry: CacheEntry): Endpoint | undefined {
    return byHash.get(entry.endpointId + entry.endpointHash);
  }

  function findWanted(key: string): Wanted | undefined {
    const entry = store.peek(key);
    const endpoint = entry === undefined ? undefined : findEndpoint(entry);
    if (entry === undefined || endpoint?.cachingSeconds === undefined) return undefined;
    return now() - entry.lastAskedMs <= endpoint.cachingSeconds * 1000 ? { entry, endpoint } : undefined;
  }

  return {
    tick() {
      followDefinitions();
      for (const key of cached.warmKeys()) {
        if (running.size >= concurrencyMax) return;
        const wanted = findWanted(key);
        if (wanted === undefined || wanted.entry.dueMs > now() || running.has(key)) continue;
        running.set(key, refresh(key, wanted.entry, wanted.endpoint));
      }
    },
    async idle() {
      await Promise.all(running.values());
    },
  };
}
