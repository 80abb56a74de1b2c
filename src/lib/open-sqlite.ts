import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makePrivateFile } from './file.ts';
import { describeFolderFailure, makeFolder } from './folder.ts';
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
