import { LRUCache } from 'lru-cache';
import { TailraceError } from '../errors.ts';
import { createSingleFlight } from '../lib/single-flight.ts';
import type { ChangeWatch } from './change-watch.ts';
import type { Peeked } from './control-store.ts';
import type { KeyRecord } from './key-record.ts';

/** Keys of a store that has to be asked, as they were read a moment ago. */
export interface KnownKeys {
  /** See `ControlStore`. */
  peek(id: string): Peeked;
  find(id: string): Promise<KeyRecord | undefined>;
  /** These are read anew, and what is being read now is not kept. @param ids all keys without it */
  forget(ids?: readonly string[]): void;
}

export interface KnownKeysOptions {
  /** Asks the store. @throws TailraceError `engine_unavailable` */
  readonly read: (id: string) => Promise<KeyRecord | undefined>;
  readonly watch: () => Pick<ChangeWatch, 'ageMs' | 'isDown'>;
  /** How much longer keys are used while the store is away. */
  readonly staleMs: number;
}

// With a look every 500 ms two may be late or lost; a change elsewhere is then still heeded within 2 s.
const FRESH_MS = 1_500;
// About 6 MB.
const RECORDS_MAX = 10_000;
// Ids that anyone can make up: kept apart, so that they push no key out. Beyond it each costs a look-up again.
const ABSENT_MAX = 10_000;
// Where keys change all the time: each reading is later than the changes before it.
const READS_MAX = 3;
// More than the database answers within a caller's patience.
const LOOK_UPS_MAX = 1_000;

export function createKnownKeys({ read, watch, staleMs }: KnownKeysOptions): KnownKeys {
  const records = new LRUCache<string, KeyRecord>({ max: RECORDS_MAX });
  const absent = new LRUCache<string, true>({ max: ABSENT_MAX });
  const flights = createSingleFlight<KeyRecord | undefined>();
  let epoch = 0;

  /** A key that was seen, while that may be used. */
  function findKept(id: string): KeyRecord | undefined {
    const { ageMs, isDown } = watch();
    return ageMs() < FRESH_MS + (isDown() ? staleMs : 0) ? records.get(id) : undefined;
  }

  function peek(id: string): Peeked {
    const kept = findKept(id);
    if (kept !== undefined) return kept;
    // It may have been made since: only what was looked at just now says that there is none.
    return watch().ageMs() < FRESH_MS && absent.get(id) === true ? 'absent' : 'unseen';
  }

  /** What is read while the keys change may be from before the change: it is read again, and not kept. */
  async function readAndKeep(id: string): Promise<KeyRecord | undefined> {
    for (let reads = 1; ; reads++) {
      const begun = epoch;
      const record = await read(id);
      if (begun === epoch) {
        if (record === undefined) absent.set(id, true);
        else records.set(id, record);
        return record;
      }
      if (reads === READS_MAX) return record;
    }
  }

  return {
    peek,
    async find(id) {
      const known = peek(id);
      if (known !== 'unseen') return known === 'absent' ? undefined : known;
      if (flights.size >= LOOK_UPS_MAX) {
        throw new TailraceError('overloaded', `${LOOK_UPS_MAX} keys wait to be looked up already`);
      }
      try {
        // Who comes after a change does not join a look-up from before it.
        return (await flights.run(`${epoch} ${id}`, () => readAndKeep(id))).value;
      } catch (error) {
        const kept = findKept(id); // it may have turned out meanwhile that the store is away
        if (kept !== undefined) return kept;
        throw error;
      }
    },
    forget(ids) {
      epoch++;
      if (ids === undefined) {
        records.clear();
        absent.clear();
      }
      for (const id of ids ?? []) {
        records.delete(id);
        absent.delete(id);
      }
    },
  };
}
