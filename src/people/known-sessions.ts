import { LRUCache } from 'lru-cache';
import { TailraceError } from '../errors.ts';
import type { SessionRecord, SessionStore } from '../keys/session-store.ts';
import { createSingleFlight } from '../lib/single-flight.ts';

export interface KnownSessionsOptions {
  readonly store: Pick<SessionStore, 'find'>;
  /** How much longer sessions are used while the store is unavailable. */
  readonly staleMs: number;
  /** Monotonic ms. */
  readonly ticks: () => number;
}

/** A session that was read a moment ago. */
export interface KnownSession {
  readonly record: SessionRecord;
  /** SHA-256 of the cookie's value. */
  readonly hash: Uint8Array;
  /** Last known use, ms since the epoch. */
  seenMs: number;
  /** The last use that was written. */
  touchedMs: number;
}

interface Entry {
  readonly session: KnownSession;
  readonly readAtMs: number;
}

// A session that another process has ended is used no longer than this.
const FRESH_MS = 1_000;
// Claims take up to 64 KB each.
const SESSIONS_MAX = 2_000;
const LOOK_UPS_MAX = 1_000;

export function createKnownSessions({ store, staleMs, ticks }: KnownSessionsOptions) {
  const known = new LRUCache<string, Entry>({ max: SESSIONS_MAX });
  const flights = createSingleFlight<KnownSession | undefined>();
  let epoch = 0;

  async function read(id: string): Promise<KnownSession | undefined> {
    const [begun, readAtMs, last] = [epoch, ticks(), known.get(id)];
    try {
      const record = await store.find(id);
      if (record === undefined) {
        known.delete(id);
        return undefined;
      }
      const session = toKnown(record, last?.session);
      if (begun === epoch) known.set(id, { session, readAtMs }); // else it may have ended meanwhile
      return session;
    } catch (error) {
      const isUsable = begun === epoch && last !== undefined && ticks() - last.readAtMs < FRESH_MS + staleMs;
      if (isUsable) return last.session;
      throw error;
    }
  }

  return {
    /** Finds a session; synchronously if it is known. Rejects with the failure of the store. */
    find(id: string): KnownSession | Promise<KnownSession | undefined> {
      const entry = known.get(id);
      if (entry !== undefined && ticks() - entry.readAtMs < FRESH_MS) return entry.session;
      if (flights.size >= LOOK_UPS_MAX && !flights.has(id))
        return Promise.reject(
          new TailraceError('overloaded', `${LOOK_UPS_MAX} sessions wait to be looked up already`),
        );
      return flights.run(`${epoch} ${id}`, () => read(id)).then(({ value }) => value);
    },
    /** To be called when sessions have ended: no earlier reading of them is used. */
    forget(): void {
      epoch++;
      known.clear();
    },
  };
}

export function hashOf({ hash }: SessionRecord): Uint8Array {
  return Buffer.from(hash, 'hex');
}

/** Keeps the object of an unchanged session: what follows from its claims is remembered by it. */
function toKnown(record: SessionRecord, last: KnownSession | undefined): KnownSession {
  const seenMs = Math.max(record.seenMs, last?.seenMs ?? 0);
  if (last === undefined || last.record.hash !== record.hash)
    return { record, hash: hashOf(record), seenMs, touchedMs: record.seenMs };
  last.seenMs = seenMs;
  return last;
}
