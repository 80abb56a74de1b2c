import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describeFolderFailure, makeFolder, makePrivateFile } from './file.ts';
import { toStartError } from './system-failure.ts';

/**
 * Opens a database that only its owner can read, or creates it with its folder.
 *
 * @param what names it in messages
 * @param prepare sets it up, and creates or migrates its tables
 * @throws InputError if it cannot be used, TransientError if that may pass
 */
export function openSqlite(
  file: string,
  what: string,
  prepare: (database: DatabaseSync) => void,
): DatabaseSync {
  try {
    makeFolder(dirname(file), 0o700);
    makePrivateFile(file);
    const database = new DatabaseSync(file);
    prepare(database);
    return database;
  } catch (error) {
    throw toStartError(`${what} ${file} cannot be opened: ${describeFolderFailure(error)}`, error);
  }
}

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
