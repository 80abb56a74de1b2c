import { untilAborted } from './abort.ts';

/** What a flight is given: its signal aborts when the last waiting caller has gone. */
export type Flight<T> = (signal: AbortSignal) => Promise<T>;

export interface SingleFlight<T> {
  /**
   * The result of `start`, begun only if no flight of this key is under way. A caller whose `signal` aborts leaves
   * alone: the others go on waiting. Only when the last has left is the flight itself aborted.
   *
   * @returns the flight's result, and whether this call joined one begun by another
   */
  run(key: string, start: Flight<T>, signal?: AbortSignal): Promise<{ value: T; joined: boolean }>;
  /** Flights under way. */
  readonly size: number;
}

interface Entry<T> {
  readonly promise: Promise<T>;
  readonly abort: AbortController;
  waiting: number;
}

/** Same key, one flight. */
export function createSingleFlight<T>(): SingleFlight<T> {
  const flights = new Map<string, Entry<T>>();

  function open(key: string, start: Flight<T>): Entry<T> {
    const abort = new AbortController();
    const promise = start(abort.signal).finally(() => {
      if (flights.get(key) === entry) flights.delete(key);
    });
    promise.catch(() => {}); // every waiter sees the failure; with none left it is nobody's
    const entry: Entry<T> = { promise, abort, waiting: 0 };
    flights.set(key, entry);
    return entry;
  }

  function leave(key: string, entry: Entry<T>): void {
    entry.waiting--;
    if (entry.waiting > 0) return;
    // A flight nobody waits for is on its way out: a newcomer starts afresh instead of inheriting its abort.
    if (flights.get(key) === entry) flights.delete(key);
    entry.abort.abort();
  }

  return {
    get size() {
      return flights.size;
    },
    async run(key, start, signal) {
      signal?.throwIfAborted();
      const existing = flights.get(key);
      const entry = existing ?? open(key, start);
      entry.waiting++;
      try {
        const value = await (signal === undefined ? entry.promise : untilAborted(entry.promise, signal));
        return { value, joined: existing !== undefined };
      } finally {
        leave(key, entry);
      }
    },
  };
}
