import type { Endpoint } from '../definitions/endpoint.ts';
import type { CachedQueries } from './cached.ts';
import type { CacheEntry, CacheStore } from './store.ts';

export interface WarmerOptions {
  readonly store: CacheStore;
  readonly cached: CachedQueries;
  /** The served endpoints; another array if they have changed. */
  readonly endpoints: () => readonly Endpoint[];
  readonly now: () => number;
  readonly onRefresh: (endpoint: Endpoint, error?: unknown) => void;
}

/**
 * Keeps answers warm (spec 2.1 cache warming, 4.1 rule 4, 4.3 rule 4): one that was requested within the last
 * `caching` seconds is refreshed every `cache_warming` seconds. Refreshes run one at a time, since callers' queries
 * come first: an answer whose turn has not come is refreshed when it is requested next. A refresh that fails leaves
 * the good answer for the rest of its life.
 */
export function createWarmer({ store, cached, endpoints, now, onRefresh }: WarmerOptions) {
  let running: Promise<void> | undefined;
  let served: readonly Endpoint[] = [];
  let current = new Set<string>();

  async function refresh(entry: CacheEntry): Promise<void> {
    const { endpoint } = entry.question;
    // If it fails, it is tried again after a full interval, so that a broken engine is not flooded.
    entry.dueMs = now() + (endpoint.warmingSeconds ?? 0) * 1000;
    try {
      if (await cached.refresh(entry)) onRefresh(endpoint);
    } catch (error) {
      onRefresh(endpoint, error);
    } finally {
      running = undefined;
    }
  }

  /** Removes entries of definitions that have changed or gone: their questions can no longer be asked. */
  function followDefinitions(): void {
    if (served === endpoints()) return;
    served = endpoints();
    current = new Set(served.map(nameOf));
    for (const [key, entry] of [...store.entries()]) if (!isCurrent(entry)) store.delete(key);
  }

  function isCurrent({ question }: CacheEntry): boolean {
    return current.has(nameOf(question.endpoint));
  }

  function findDue(key: string): CacheEntry | undefined {
    const entry = store.peek(key); // not a use: it would make the entry stay longer
    if (entry === undefined || !isCurrent(entry) || entry.dueMs > now()) return undefined;
    const { cachingSeconds = 0 } = entry.question.endpoint;
    return now() - entry.lastAskedMs <= cachingSeconds * 1000 ? entry : undefined;
  }

  return {
    /** Starts a refresh that is due, unless one is running. Called about once a second. */
    tick(): void {
      followDefinitions();
      if (running !== undefined) return;
      for (const key of cached.warmKeys()) {
        const entry = findDue(key);
        if (entry === undefined) continue;
        running = refresh(entry);
        return;
      }
    },
    /** Resolves when no refresh is running. */
    idle: async () => await running,
  };
}

function nameOf({ id, hash }: Endpoint): string {
  return id + hash;
}
