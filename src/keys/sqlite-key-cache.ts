import type { DatabaseSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import type { KeyRecord } from './key-record.ts';

/**
 * Keys that were read a moment ago. A change by this process acts with the next look-up; one by another, such as
 * `tailrace keys revoke`, within `FRESH_MS`: so often SQLite is asked whether anyone has written.
 */
export interface KeyCache {
  /** @param read looks the key up where it is not here */
  find(id: string, read: () => KeyRecord | undefined): KeyRecord | undefined;
  /** After a write by this connection, which SQLite does not count. */
  clear(): void;
}

// Asking costs a third of reading a key anew; asked at every look-up, it would make the cache slower than none for many keys.
const FRESH_MS = 20;
// About 6 MB.
const RECORDS_MAX = 10_000;

export function createKeyCache(database: DatabaseSync): KeyCache {
  const version = database.prepare('PRAGMA data_version');
  const records = new LRUCache<string, KeyRecord>({ max: RECORDS_MAX });
  let seen: unknown;
  let freshUntilMs = 0;

  function followOthers(): void {
    const nowMs = performance.now(); // never set back, as the clock may be
    if (nowMs < freshUntilMs) return;
    freshUntilMs = nowMs + FRESH_MS;
    const current = version.get()?.['data_version'];
    if (current !== seen) records.clear();
    seen = current;
  }

  return {
    find(id, read) {
      followOthers();
      const kept = records.get(id);
      if (kept !== undefined) return kept;
      const record = read();
      if (record !== undefined) records.set(id, record);
      return record;
    },
    clear: () => records.clear(),
  };
}
