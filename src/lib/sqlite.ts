import type { DatabaseSync } from 'node:sqlite';

/** Why SQLite failed, as far as it matters to whoever waits: there is no room, another process writes, or anything else. */
export type SqliteFailure = 'full' | 'busy' | 'other';

// https://www.sqlite.org/rescode.html
const FULL = 13;
const BUSY = 5;
const LOCKED = 6;
const IOERR_SHMSIZE = 4874; // it cannot make its shared memory file larger, which lies beside the database

/** Everything that `work` writes is written at once, or nothing of it. */
export function transact<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // A full disk or a broken one makes SQLite end the transaction itself, and a ROLLBACK would then hide why.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** @returns `undefined` for what is no failure of SQLite */
export function findSqliteFailure(error: unknown): SqliteFailure | undefined {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  if (code !== 'ERR_SQLITE_ERROR' || typeof errcode !== 'number') return undefined;
  if (errcode === IOERR_SHMSIZE) return 'full';
  const primary = errcode & 0xff; // the rest says more of the same
  if (primary === FULL) return 'full';
  return primary === BUSY || primary === LOCKED ? 'busy' : 'other';
}

/** What went wrong, in plain words where SQLite's own are about itself. */
export function describeSqliteFailure(error: unknown): string {
  if (findSqliteFailure(error) === 'full') return 'the disk is full; make room';
  return error instanceof Error ? error.message : String(error);
}
