import { untilAborted } from './abort.ts';

/**
 * Starts the computation. The signal aborts when the last caller has left; `onJoin` registers a listener for the name
 * of each caller that joins from now on.
 */
export type Flight<T> = (
  signal: AbortSignal,
  onJoin: (listener: (name: string) => void) => void,
) => Promise<T>;

export interface FlightCaller {
  readonly signal?: AbortSignal | undefined;
  /** The name of this caller, reported to a flight that another caller started. */
  readonly name?: string | undefined;
}

interface Entry<T> {
  readonly promise: Promise<T>;
  readonly abort: AbortController;
  readonly listeners: ((name: string) => void)[];
  callers: number;
}

/** Runs one computation per key, shared by all callers that ask while it runs. */
export function createSingleFlight<T>() {
  const flights = new Map<string, Entry<T>>();

  function open(key: string, start: Flight<T>): Entry<T> {
    const abort = new AbortController();
    const listeners: Entry<T>['listeners'] = [];
    const promise = start(abort.signal, (listener) => void listeners.push(listener)).finally(() => {
      if (flights.get(key) === entry) flights.delete(key);
    });
    promise.catch(() => {}); // each caller gets the rejection; without callers it is swallowed
    const entry: Entry<T> = { promise, abort, listeners, callers: 0 };
    flights.set(key, entry);
    return entry;
  }

  function leave(key: string, entry: Entry<T>): void {
    entry.callers--;
    if (entry.callers > 0) return;
    // Removed before it ends: a new caller starts its own flight instead of joining one that is being aborted.
    if (flights.get(key) === entry) flights.delete(key);
    entry.abort.abort();
  }

  return {
    /** Flights under way. */
    get size() {
      return flights.size;
    },
    /** Whether a call of this key would join a flight. */
    has: (key: string) => flights.has(key),
    /**
     * Returns the result of `start`, which is called only if no flight of this key is under way: else this call joins
     * it. A caller that aborts leaves without the others; the flight is aborted when its last caller has left.
     */
    async run(
      key: string,
      start: Flight<T>,
      { signal, name }: FlightCaller = {},
    ): Promise<{ value: T; joined: boolean }> {
      signal?.throwIfAborted();
      const existing = flights.get(key);
      const entry = existing ?? open(key, start);
      entry.callers++;
      if (existing !== undefined && name !== undefined)
        for (const listener of existing.listeners) listener(name);
      try {
        const value = await (signal === undefined ? entry.promise : untilAborted(entry.promise, signal));
        return { value, joined: existing !== undefined };
      } finally {
        leave(key, entry);
      }
    },
  };
}

/** Wraps a function so that it is computed once for each object. Objects that nothing else holds are forgotten. */
export function remember<K extends object, V extends object | string>(compute: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => {
    const value = known.get(key) ?? compute(key);
    known.set(key, value);
    return value;
  };
}
