import type { DatabaseSync } from 'node:sqlite';

/** The reason of a failure of SQLite: no space is left, another process is writing, or anything else. */
export type SqliteFailure = 'full' | 'busy' | 'other';

// https://www.sqlite.org/rescode.html
const FULL = 13;
const BUSY = 5;
const LOCKED = 6;
const IOERR_SHMSIZE = 4874; // its shared memory file beside the database cannot grow

/** Runs `work` in a transaction: all of its writes are kept, or none. */
export function transact<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // On a full or broken disk SQLite has rolled back already, and another ROLLBACK would hide the reason.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** @returns `undefined` if the error is not SQLite's */
export function findSqliteFailure(error: unknown): SqliteFailure | undefined {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  if (code !== 'ERR_SQLITE_ERROR' || typeof errcode !== 'number') return undefined;
  if (errcode === IOERR_SHMSIZE) return 'full';
  const primary = errcode & 0xff; // the other bits are details
  if (primary === FULL) return 'full';
  return primary === BUSY || primary === LOCKED ? 'busy' : 'other';
}
