import { LRUCache } from 'lru-cache';
import { type RejectReason, TailraceError } from '../errors.ts';
import { createSingleFlight } from '../lib/single-flight.ts';
import { startTask } from '../lib/task.ts';
import type { AuditEntry } from './audit.ts';
import type { ControlStore } from './control-store.ts';

interface KnownOptions<T> {
  /** Asks the store. @param last what was read before @throws TailraceError `engine_unavailable` */
  readonly read: (id: string, last: T | undefined) => Promise<T | undefined>;
  /** Returns for how many ms a record that was read at an instant (`ticks`) may be outdated. */
  readonly ageMs: (readAtMs: number) => number;
  readonly freshMs: number;
  /** How much longer records are used while the store is unavailable. */
  readonly staleMs: number;
  /** Whether it is. @param hasFailed whether it has just failed */
  readonly isDown: (hasFailed: boolean) => boolean;
  /** Records in memory. */
  readonly max: number;
  /** Monotonic ms. */
  readonly ticks: () => number;
}

// Tries while records change all the time: each reading is later than the changes before it.
const READS_MAX = 3;
// More look-ups than the database completes before callers give up.
const LOOK_UPS_MAX = 1_000;

/**
 * Keys or sessions of a store, as they were read a moment ago. Ids that none has are looked up each time: anyone can
 * invent new ones, so remembering some would bound nothing.
 */
export function createKnown<T extends object>(options: KnownOptions<T>) {
  const { read, ageMs, freshMs, staleMs, isDown, ticks } = options;
  const records = new LRUCache<string, { readonly value: T; readonly readAtMs: number }>(options);
  const flights = createSingleFlight<T | undefined>();
  let epoch = 0;

  /** Finds a record that was read, while it may be used. */
  function findKept(id: string, hasFailed = false): T | undefined {
    const kept = records.get(id);
    if (kept === undefined) return undefined;
    const usableMs = freshMs + (isDown(hasFailed) ? staleMs : 0);
    return ageMs(kept.readAtMs) < usableMs ? kept.value : undefined;
  }

  /** Looks one up. A record that is read during a change may be from before it: it is read again, and not kept. */
  async function readAndKeep(id: string): Promise<T | undefined> {
    for (let reads = 1; ; reads++) {
      const [begun, readAtMs] = [epoch, ticks()];
      const value = await read(id, records.get(id)?.value);
      if (begun === epoch) {
        if (value === undefined) records.delete(id);
        else records.set(id, { value, readAtMs });
        return value;
      }
      if (reads === READS_MAX) return value;
    }
  }

  async function lookUp(id: string): Promise<T | undefined> {
    if (flights.size >= LOOK_UPS_MAX)
      throw new TailraceError('overloaded', `${LOOK_UPS_MAX} keys wait to be looked up already`);
    try {
      // A caller that comes after a change does not join a look-up from before it.
      return (await flights.run(`${epoch} ${id}`, () => readAndKeep(id))).value;
    } catch (error) {
      const kept = findKept(id, true);
      if (kept !== undefined) return kept;
      throw error;
    }
  }

  return {
    /** A promise only if the store has to be read. */
    find(id: string): T | Promise<T | undefined> {
      return findKept(id) ?? lookUp(id);
    },
    /** Forgets records; one that is being read now is not kept. @param ids all of them if left out */
    forget(ids?: readonly string[]): void {
      epoch++;
      if (ids === undefined) records.clear();
      for (const id of ids ?? []) records.delete(id);
    },
  };
}

interface ChangeWatchOptions {
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

/** Probes a store for the changes of other processes. @throws the failure of the first probe, for which it waits */
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

export type Tally = ReturnType<typeof createTally>;

interface Count extends Pick<AuditEntry, 'action' | 'keyId' | 'detail' | 'atMs'> {
  /** Addresses of the clients: at most one more than are written. */
  readonly addresses: Set<string>;
  count: number;
}

// Beyond it rejections are counted without their keys.
const COUNTS_MAX = 1_000;
// Addresses of each count: many clients with wrong keys stay one row.
const ADDRESSES_MAX = 3;
// About 30 ms of writing; further keys are written a minute later, oldest first.
const USED_PER_FLUSH_MAX = 1_000;

/**
 * Counts uses and rejections of keys in memory, to be written once a minute: counting costs a request almost nothing,
 * and ten thousand wrong keys a second become one row.
 */
export function createTally(store: ControlStore, now: () => number) {
  const lastUsed = new Map<string, number>();
  let counts = new Map<string, Count>();

  // Its only caller is a task, which never runs twice at once.
  async function flush(): Promise<void> {
    const used = [...lastUsed].slice(0, USED_PER_FLUSH_MAX);
    const taken = counts;
    counts = new Map();
    try {
      await store.noteUses(used);
      await store.record([...taken.values()].map(toEntry));
    } catch (error) {
      const since = counts;
      counts = taken;
      for (const one of since.values()) count(one, one.count);
      throw error;
    }
    for (const [id, atMs] of used) if (lastUsed.get(id) === atMs) lastUsed.delete(id); // else it was used meanwhile
  }

  function count(fields: Omit<Count, 'count'>, times = 1): void {
    const { action, detail, keyId, addresses } = fields;
    const nameOf = (id: string) => `${action}\0${detail}\0${id}`;
    const known = counts.get(nameOf(keyId));
    const named = known !== undefined || counts.size < COUNTS_MAX ? keyId : '';
    const same = known ?? counts.get(nameOf(named));
    if (same === undefined) {
      counts.set(nameOf(named), { ...fields, keyId: named, count: times });
      return;
    }
    same.count += times;
    for (const address of addresses) if (same.addresses.size <= ADDRESSES_MAX) same.addresses.add(address);
  }

  return {
    /** Key id → its last use, ms since the epoch; bounded by the number of keys in use. */
    lastUsed,
    /** Counts a rejection. @param keyId of an existing key; empty otherwise, since anyone can invent ids */
    countRejected: (keyId: string, reason: RejectReason, address = '') => {
      const addresses = new Set(address === '' ? [] : [address]);
      count({ action: 'refused', keyId, detail: reason, atMs: now(), addresses });
    },
    /** Counts a signed token that was minted with this key. */
    minted: (keyId: string) =>
      count({ action: 'minted', keyId, detail: '', atMs: now(), addresses: new Set() }),
    /** Writes all counts; called for one at a time. @throws if the store cannot be written; the counts are then kept */
    flush,
  };
}

/** `unknown from 192.0.2.1, 192.0.2.7 and others` */
function toEntry({ addresses, detail, ...count }: Count): AuditEntry {
  const [written, others] = [[...addresses].slice(0, ADDRESSES_MAX), addresses.size > ADDRESSES_MAX];
  const from = written.length === 0 ? '' : ` from ${written.join(', ')}${others ? ' and others' : ''}`;
  return { ...count, detail: `${detail}${from}`, actor: '' };
}
