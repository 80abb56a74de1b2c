/**
 * Who waits, in lanes that are served by turns: a lane with a thousand waiting delays another's first by one turn, not by a
 * thousand. Within a lane it is first come, first served. A lane is there only while someone waits in it.
 */
export interface Lanes<T> {
  /** Puts one at the end of a lane. It may stand in several and leaves all of them at once. */
  push(lane: string, waiter: T): void;
  delete(waiter: T): void;
  has(waiter: T): boolean;
  /** Takes out the first of the lane whose turn it is, passing over lanes that may not be served now. */
  shift(mayServe: (lane: string) => boolean): { readonly lane: string; readonly waiter: T } | undefined;
  /** How many stand in a lane. */
  length(lane: string): number;
  waiters(): T[];
  /** How many wait in all. */
  readonly size: number;
}

export function createLanes<T>(): Lanes<T> {
  // In the order of turns: a lane that was served goes to the end. A Set keeps the order of arrival and gives up a waiter
  // that left without a search.
  const lanes = new Map<string, Set<T>>();
  const places = new Map<T, Set<string>>();

  function remove(waiter: T): void {
    for (const lane of places.get(waiter) ?? []) {
      const waiters = lanes.get(lane);
      waiters?.delete(waiter);
      if (waiters?.size === 0) lanes.delete(lane);
    }
    places.delete(waiter);
  }

  return {
    get size() {
      return places.size;
    },
    push(lane, waiter) {
      const waiters = lanes.get(lane) ?? new Set();
      lanes.set(lane, waiters.add(waiter));
      places.set(waiter, (places.get(waiter) ?? new Set()).add(lane));
    },
    delete: remove,
    has: (waiter) => places.has(waiter),
    shift(mayServe) {
      for (const [lane, waiters] of lanes) {
        const [waiter] = waiters;
        if (waiter === undefined || !mayServe(lane)) continue;
        lanes.delete(lane);
        lanes.set(lane, waiters);
        remove(waiter);
        return { lane, waiter };
      }
      return undefined;
    },
    length: (lane) => lanes.get(lane)?.size ?? 0,
    waiters: () => [...places.keys()],
  };
}
