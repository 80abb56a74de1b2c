const SEPARATOR = '/'; // not in any id of a key

/** Returns the lane of a key's own requests, or of one of its tokens. */
export function laneOf(keyId: string, tokenId?: string): string {
  return tokenId === undefined ? keyId : `${keyId}${SEPARATOR}${tokenId}`;
}

export function keyOfLane(lane: string): string {
  const end = lane.indexOf(SEPARATOR);
  return end === -1 ? lane : lane.slice(0, end);
}

/**
 * Fair queue: round-robin across keys, within a key across its tokens, FIFO within a lane. A key with a thousand
 * waiting queries delays another key's first query by one. A lane exists only while a query waits in it.
 */
export function createLanes<T>() {
  // Key → lane → waiters, each in round-robin order: after being served, an item moves to the end. A Set keeps the
  // order of arrival and deletes a waiter without a search.
  const keys = new Map<string, Map<string, Set<T>>>();
  const places = new Map<T, Set<string>>();

  function remove(waiter: T): void {
    for (const lane of places.get(waiter) ?? []) {
      const key = keyOfLane(lane);
      const lanes = keys.get(key);
      const waiters = lanes?.get(lane);
      waiters?.delete(waiter);
      if (waiters?.size === 0) lanes?.delete(lane);
      if (lanes?.size === 0) keys.delete(key);
    }
    places.delete(waiter);
  }

  return {
    /** All waiters. */
    get size(): number {
      return places.size;
    },
    /** Appends a waiter to a lane. It may be in several lanes, and leaves all of them at once. */
    push(lane: string, waiter: T): void {
      const key = keyOfLane(lane);
      const lanes = keys.get(key) ?? new Map<string, Set<T>>();
      const waiters = lanes.get(lane) ?? new Set();
      keys.set(key, lanes.set(lane, waiters.add(waiter)));
      places.set(waiter, (places.get(waiter) ?? new Set()).add(lane));
    },
    delete: remove,
    has: (waiter: T) => places.has(waiter),
    /** Takes the first waiter of the next lane, skipping lanes that may not be served now. */
    shift(mayServe: (lane: string) => boolean): { readonly lane: string; readonly waiter: T } | undefined {
      for (const [key, lanes] of keys) {
        for (const [lane, waiters] of lanes) {
          const [waiter] = waiters;
          if (waiter === undefined || !mayServe(lane)) continue;
          moveToEnd(lanes, lane);
          moveToEnd(keys, key);
          remove(waiter);
          return { lane, waiter };
        }
      }
      return undefined;
    },
    /** Waiters of a lane. */
    length: (lane: string) => keys.get(keyOfLane(lane))?.get(lane)?.size ?? 0,
    /** Waiters of all lanes of a key. */
    lengthOfKey: (key: string) =>
      [...(keys.get(key)?.values() ?? [])].reduce((sum, { size }) => sum + size, 0),
    waiters: () => [...places.keys()],
  };
}

export type Lanes<T> = ReturnType<typeof createLanes<T>>;

function moveToEnd<T>(map: Map<string, T>, name: string): void {
  const value = map.get(name);
  if (value === undefined) return;
  map.delete(name);
  map.set(name, value);
}
