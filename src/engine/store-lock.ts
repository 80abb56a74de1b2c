import { accessSync, constants, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { InputError } from '../errors.ts';
import { describeFolderFailure, makeFolder } from '../lib/file.ts';
import { isTransient, toStartError } from '../lib/system-failure.ts';

const SQLITE_BUSY = 5;
// `findOwner` takes a shared lock for a moment; a start must not treat that as another owner.
const BUSY_MS_MAX = 250;
const OWNER_FILE = 'owner.txt';

/** Another process owns the data directory. */
export class StoreInUseError extends InputError {
  override readonly name = 'StoreInUseError';
}

/**
 * Locks a data directory for this process, and creates the directory if it is missing.
 *
 * The lock is SQLite's exclusive lock on `lock.sqlite`, which the operating system releases with the process, however
 * it ends: no stale lock can remain. `owner.txt` beside it names the owner, for messages.
 *
 * @param owner one line that names the holder of the store, such as `tailrace serve (pid 4711)`
 * @throws StoreInUseError; InputError if the directory cannot be used, TransientError if that may pass
 */
export function lockStore(dataDir: string, owner: string): { release(): void } {
  const database = openLockFile(dataDir);
  const ownerFile = join(dataDir, OWNER_FILE);
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw unusable(dataDir, error);
    const fault =
      `data directory ${dataDir} is in use by ${readOwner(ownerFile)}; stop that first, ` +
      'or set TAILRACE_DATA_DIR to another folder';
    throw new StoreInUseError([fault], { cause: error });
  }
  writeOwner(ownerFile, owner);
  return {
    release() {
      rmSync(ownerFile, { force: true });
      if (database.isOpen) database.close();
    },
  };
}

/** The file that the owner keeps locked and open. */
function lockFile(dataDir: string): string {
  return join(dataDir, 'lock.sqlite');
}

/**
 * Returns the owner of a data directory, as given to `lockStore`; `undefined` if there is none. A killed process owns
 * nothing.
 *
 * @throws InputError when the directory cannot be used
 */
export function findOwner(dataDir: string): string | undefined {
  if (!existsSync(lockFile(dataDir))) return undefined;
  const database = openLockFile(dataDir, 0);
  try {
    database.exec('BEGIN; SELECT count(*) FROM sqlite_master');
    return undefined;
  } catch (error) {
    if (isBusy(error)) return readOwner(join(dataDir, OWNER_FILE));
    throw unusable(dataDir, error);
  } finally {
    database.close();
  }
}

function isBusy(error: unknown): boolean {
  return (error as { errcode?: unknown }).errcode === SQLITE_BUSY;
}

/**
 * Writes the owner, best effort: the text is only for other processes' messages, and a full disk must not prevent
 * reading the store.
 */
function writeOwner(file: string, owner: string): void {
  try {
    writeFileSync(file, `${owner}\n`);
  } catch {
    rmSync(file, { force: true }); // a truncated name would mislead
  }
}

function openLockFile(dataDir: string, timeout = BUSY_MS_MAX): DatabaseSync {
  try {
    makeFolder(dataDir, 0o700);
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    return new DatabaseSync(lockFile(dataDir), { timeout });
  } catch (error) {
    throw unusable(dataDir, error);
  }
}

function unusable(dataDir: string, cause: unknown): InputError {
  const remedy = isTransient(cause) ? '' : '; set TAILRACE_DATA_DIR to a writable folder';
  const fault = `data directory ${dataDir} cannot be used: ${describeFolderFailure(cause)}${remedy}`;
  return toStartError(fault, cause);
}

function readOwner(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return 'another process';
  }
}
