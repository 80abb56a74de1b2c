import { untilAborted } from './abort.ts';

/** Tells a listener the name of each caller that joins from now on. */
export type OnJoin = (listener: (name: string) => void) => void;

/** What a flight is given: its signal aborts when the last waiting caller has gone. */
export type Flight<T> = (signal: AbortSignal, onJoin: OnJoin) => Promise<T>;

/** One who waits; `name` is told to the flight when it joins one begun by another. */
export interface Waiting {
  readonly signal?: AbortSignal | undefined;
  readonly name?: string | undefined;
}

export interface SingleFlight<T> {
  /**
   * The result of `start`, begun only if no flight of this key is under way. A caller whose signal aborts leaves
   * alone: the others go on waiting. Only when the last has left is the flight itself aborted.
   *
   * @returns the flight's result, and whether this call joined one begun by another
   */
  run(key: string, start: Flight<T>, caller?: Waiting): Promise<{ value: T; joined: boolean }>;
  /** Whether a call of this key would join a flight. */
  has(key: string): boolean;
  /** Flights under way. */
  readonly size: number;
}

interface Entry<T> {
  readonly promise: Promise<T>;
  readonly abort: AbortController;
  readonly joined: (name: string) => void;
  waiting: number;
}

/** Same key, one flight. */
export function createSingleFlight<T>(): SingleFlight<T> {
  const flights = new Map<string, Entry<T>>();

  function open(key: string, start: Flight<T>): Entry<T> {
    const abort = new AbortController();
    const listeners: ((name: string) => void)[] = [];
    const joined = (name: string) => {
      for (const listener of listeners) listener(name);
    };
    const promise = start(abort.signal, (listener) => void listeners.push(listener)).finally(() => {
      if (flights.get(key) === entry) flights.delete(key);
    });
    promise.catch(() => {}); // every waiter sees the failure; with none left it is nobody's
    const entry: Entry<T> = { promise, abort, joined, waiting: 0 };
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
    has: (key) => flights.has(key),
    async run(key, start, { signal, name } = {}) {
      signal?.throwIfAborted();
      const existing = flights.get(key);
      const entry = existing ?? open(key, start);
      entry.waiting++;
      if (existing !== undefined && name !== undefined) existing.joined(name);
      try {
        const value = await (signal === undefined ? entry.promise : untilAborted(entry.promise, signal));
        return { value, joined: existing !== undefined };
      } finally {
        leave(key, entry);
      }
    },
  };
}
