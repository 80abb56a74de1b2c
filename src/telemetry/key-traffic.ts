import { LRUCache } from 'lru-cache';

/** The requests of a key since the start. */
export interface KeyRequests {
  readonly requests: number;
  /** Those with a status of 400 and above. */
  readonly failures: number;
}

// Beyond it the key that was used least recently is forgotten. About 2 MB.
const KEYS_MAX = 10_000;
const FAILED = 400;

/** Counts the requests of each accepted key. */
export type KeyTraffic = ReturnType<typeof createKeyTraffic>;

export function createKeyTraffic() {
  const keys = new LRUCache<string, { requests: number; failures: number }>({ max: KEYS_MAX });
  return {
    count(keyId: string, status: number): void {
      let counts = keys.get(keyId);
      if (counts === undefined) {
        counts = { requests: 0, failures: 0 };
        keys.set(keyId, counts);
      }
      counts.requests++;
      if (status >= FAILED) counts.failures++;
    },
    read: (): ReadonlyMap<string, KeyRequests> => new Map(keys.entries()),
  };
}
