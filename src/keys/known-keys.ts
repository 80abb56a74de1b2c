import { LRUCache } from 'lru-cache';
import { TailraceError } from '../errors.ts';
import { createSingleFlight } from '../lib/single-flight.ts';
import { startTask } from '../lib/task.ts';
import type { KeyRecord } from './key-record.ts';

export interface KnownKeysOptions {
  /** Asks the store. @throws TailraceError `engine_unavailable` */
  readonly read: (id: string) => Promise<KeyRecord | undefined>;
  readonly watch: () => Pick<ChangeWatch, 'ageMs' | 'isDown'>;
  /** How much longer keys are used while the store is unavailable. */
  readonly staleMs: number;
}

// With a probe every 500 ms two may be late or lost; a change elsewhere then still acts within 2 s.
const FRESH_MS = 1_500;
// About 6 MB.
const RECORDS_MAX = 10_000;
// Tries while keys change all the time: each reading is later than the changes before it.
const READS_MAX = 3;
// More look-ups than the database completes before callers give up.
const LOOK_UPS_MAX = 1_000;

/**
 * Keys of a store across a network, as they were read a moment ago. Ids that no key has are looked up each time: anyone
 * can invent new ones, so remembering some would bound nothing.
 */
export function createKnownKeys({ read, watch, staleMs }: KnownKeysOptions) {
  const records = new LRUCache<string, KeyRecord>({ max: RECORDS_MAX });
  const flights = createSingleFlight<KeyRecord | undefined>();
  let epoch = 0;

  /** Finds a key that was read, while it may be used. */
  function findKept(id: string): KeyRecord | undefined {
    const { ageMs, isDown } = watch();
    return ageMs() < FRESH_MS + (isDown() ? staleMs : 0) ? records.get(id) : undefined;
  }

  /** Looks a key up. A record that is read during a change may be from before it: it is read again, and not kept. */
  async function readAndKeep(id: string): Promise<KeyRecord | undefined> {
    for (let reads = 1; ; reads++) {
      const begun = epoch;
      const record = await read(id);
      if (begun === epoch) {
        if (record !== undefined) records.set(id, record);
        return record;
      }
      if (reads === READS_MAX) return record;
    }
  }

  async function lookUp(id: string): Promise<KeyRecord | undefined> {
    if (flights.size >= LOOK_UPS_MAX)
      throw new TailraceError('overloaded', `${LOOK_UPS_MAX} keys wait to be looked up already`);
    try {
      // A caller that comes after a change does not join a look-up from before it.
      return (await flights.run(`${epoch} ${id}`, () => readAndKeep(id))).value;
    } catch (error) {
      const kept = findKept(id); // the look-up may have found the store unavailable
      if (kept !== undefined) return kept;
      throw error;
    }
  }

  return {
    /** See `ControlStore.findKey`. */
    find(id: string): KeyRecord | Promise<KeyRecord | undefined> {
      return findKept(id) ?? lookUp(id);
    },
    /** Forgets keys; a key that is being read now is not kept. @param ids all keys if left out */
    forget(ids?: readonly string[]): void {
      epoch++;
      if (ids === undefined) records.clear();
      for (const id of ids ?? []) records.delete(id);
    },
  };
}

export type ChangeWatch = Awaited<ReturnType<typeof openChangeWatch>>;

export interface ChangeWatchOptions {
  /** Returns the number of changes so far. */
  readonly probe: () => Promise<number>;
  /** Drops cached records that have changed. @param since the last change that was applied; `undefined`: drop all */
  readonly invalidate: (since: number | undefined) => Promise<void>;
  /** Called once with the failure when probes begin to fail, and once without when they succeed again. */
  readonly onState: (failure?: unknown) => void;
  /** Monotonic ms. */
  readonly ticks: () => number;
}

const EVERY_MS = 500;

/**
 * Probes a store for the changes of other processes: once before it resolves, then every half second, one probe at a time.
 *
 * @throws the failure of the first probe
 */
export async function openChangeWatch(options: ChangeWatchOptions) {
  const { probe, invalidate, onState, ticks } = options;
  let seenAtMs = ticks();
  let seen = await probe();
  let isDown = false;
  let isClosed = false;

  async function probeAgain(): Promise<void> {
    const startMs = ticks();
    try {
      const now = await probe();
      // First invalidate, then count as fresh. A database that was down, or has fewer changes than before, may be
      // another one now.
      if (isDown || now < seen) await invalidate(undefined);
      else if (now > seen) await invalidate(seen);
      seen = now;
      seenAtMs = startMs;
      if (isDown && !isClosed) onState();
      isDown = false;
    } catch (error) {
      if (!isDown && !isClosed) onState(error);
      isDown = true;
    }
  }

  // Its failures are states, reported by `onState`.
  const probing = startTask({ name: 'key-changes', everyMs: EVERY_MS, run: probeAgain });
  return {
    /** ms since the start of the last successful probe: cached records are not older than that. */
    ageMs: () => ticks() - seenAtMs,
    /** Whether the last probe failed. */
    isDown: () => isDown,
    async close() {
      isClosed = true;
      await probing.stop();
    },
  };
}
