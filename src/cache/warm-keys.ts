import type { Endpoint } from '../definitions/endpoint.ts';

/** Which answers callers want kept warm. */
export interface WarmKeys {
  remember(key: string, endpoint: Endpoint): void;
  /** Those asked for last first. */
  list(): string[];
}

/** @param keysMax beyond it the one asked for longest ago is forgotten */
export function createWarmKeys(keysMax: number): WarmKeys {
  // In the order of asking, which the cache's own order does not tell: a refresh is a use there.
  const keys = new Set<string>();
  return {
    remember(key, { warmingSeconds }) {
      if (warmingSeconds === undefined) return;
      keys.delete(key);
      keys.add(key);
      if (keys.size <= keysMax) return;
      const [longestAgo = key] = keys;
      keys.delete(longestAgo);
    },
    list: () => [...keys].reverse(),
  };
}
