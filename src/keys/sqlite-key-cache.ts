import type { DatabaseSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import type { KeyRecord } from './key-record.ts';

// About 6 MB.
const RECORDS_MAX = 10_000;
// Asking costs a third of reading a key; at every look-up it would cost more than the cache saves.
const FRESH_MS = 20;

/**
 * A cache of keys. A change by this process applies to the next look-up, a change by another, such as `tailrace keys revoke`, within
 * `FRESH_MS`: so often the cache asks SQLite whether another connection has written.
 */
export function createKeyCache(database: DatabaseSync) {
  const version = database.prepare('PRAGMA data_version');
  const records = new LRUCache<string, KeyRecord>({ max: RECORDS_MAX });
  let seen: unknown;
  let freshUntilMs = 0;

  function followOthers(): void {
    const nowMs = performance.now(); // monotonic
    if (nowMs < freshUntilMs) return;
    freshUntilMs = nowMs + FRESH_MS;
    const current = version.get()?.['data_version'];
    if (current !== seen) records.clear();
    seen = current;
  }

  return {
    /** @param read reads a key that is not cached */
    find(id: string, read: () => KeyRecord | undefined): KeyRecord | undefined {
      followOthers();
      const kept = records.get(id);
      if (kept !== undefined) return kept;
      const record = read();
      if (record !== undefined) records.set(id, record);
      return record;
    },
    /** Call it after a write by this connection: SQLite's `data_version` ignores those. */
    clear: () => records.clear(),
  };
}
