import type { DatabaseSync } from 'node:sqlite';
import type { KeyRecord } from './key-record.ts';

/**
 * Keys that were read from the store a moment ago. Before each use SQLite is asked whether any other connection has written
 * since, which costs a third of reading the key again; so a revocation by another process acts at once all the same.
 */
export interface KeyCache {
  /** @param read looks the key up where it is not here */
  find(id: string, read: () => KeyRecord | undefined): KeyRecord | undefined;
  /** After a write by this connection, which SQLite does not count. */
  clear(): void;
}

// About 6 MB. When it is full all leave: that is as good as any rule where each request is with another key.
const RECORDS_MAX = 10_000;

export function createKeyCache(database: DatabaseSync): KeyCache {
  const version = database.prepare('PRAGMA data_version');
  const records = new Map<string, KeyRecord>();
  let seen: unknown;
  return {
    find(id, read) {
      const current = version.get()?.['data_version'];
      if (current !== seen || records.size >= RECORDS_MAX) records.clear();
      seen = current;
      const kept = records.get(id);
      if (kept !== undefined) return kept;
      const record = read();
      if (record !== undefined) records.set(id, record);
      return record;
    },
    clear: () => records.clear(),
  };
}
