import { accessSync, constants, existsSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Source } from '../definitions/source.ts';
import { InputError, TransientError } from '../errors.ts';
import { describeFolderFailure, makeFolder, replaceFile } from '../lib/file.ts';
import { isTransient, toStartError } from '../lib/system-failure.ts';
import { sql } from '../sql/sql.ts';
import { readVersion } from '../version.ts';
import type { Engine } from './engine.ts';
import { readTables, type StoredTable } from './schema.ts';
import { alterTable, storedTable } from './table.ts';

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
const lockFile = (dataDir: string) => join(dataDir, 'lock.sqlite');

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

const isBusy = (error: unknown) => (error as { errcode?: unknown }).errcode === SQLITE_BUSY;

/** Best effort: the text is only for other processes' messages, and a full disk must not prevent reading the store. */
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

/** The version of the embedded store, and its tables for `tailrace check`, which cannot read the store of a service. */
const FILE = 'tables.json';

/** The version of the tables' layout that this program reads and writes. A store of any other version is rejected. */
export const STORE_VERSION = 2;

// On a full disk the engine creates tables that it cannot open again, without an error. Later tables have the reserve
// (lib/reserve.ts).
const NEW_STORE_BYTES = 16 * 1024 * 1024;

// The version while `tailrace restore` fills the directory.
const RESTORING = 'restoring';

/** Tables by name, as `readTables` returns them. */
type StoredTables = ReadonlyMap<string, StoredTable>;

interface StoreFile {
  readonly store?: unknown;
  readonly tables?: Readonly<Record<string, StoredTable>>;
}

/**
 * Checks the version of the embedded store, and writes that of a new one. Call it before the engine opens the store:
 * another engine detaches parts that it cannot read, so that their events seem lost.
 *
 * @throws InputError if the store is of another version, or was only partly restored; TransientError without room for a
 *   new one
 */
export function checkStoreVersion(dataDir: string): void {
  const file = readStoreFile(dataDir);
  if (file === undefined && !existsSync(join(dataDir, 'store'))) {
    requireRoom(dataDir);
    writeStoreVersion(dataDir);
    return;
  }
  if (file?.store === RESTORING)
    throw new InputError([
      `data directory ${dataDir} holds a part of a backup: "tailrace restore" did not finish; ` +
        'empty the directory and restore again',
    ]);
  rejectOther(`the event store in ${dataDir}`, file?.store);
}

function requireRoom(dataDir: string): void {
  const { bavail, bsize } = statfsSync(dataDir);
  if (bavail * bsize >= NEW_STORE_BYTES) return;
  throw new TransientError([
    `data directory ${dataDir} cannot be used: the disk is full; make room, then start again`,
  ]);
}

/** @throws InputError if a store or a backup is of another version than this program reads */
export function rejectOther(what: string, found: unknown, version = STORE_VERSION): void {
  if (found === version) return;
  const other = typeof found === 'number' ? `version ${found}` : 'an unknown version';
  const own = `Tailrace ${readVersion()} reads only version ${version}`;
  throw new InputError([`${what} is of ${other}, and ${own}; use the release that wrote it`]);
}

export function writeStoreVersion(dataDir: string): void {
  write(dataDir, { store: STORE_VERSION });
}

/** Marks the directory as unusable until `writeStoreVersion` is called. */
export function markRestoring(dataDir: string): void {
  write(dataDir, { store: RESTORING });
}

/** Ends the mark of `markRestoring` where no store was restored. */
export function removeMark(dataDir: string): void {
  rmSync(join(dataDir, FILE));
}

/** Describes the tables. If the disk is full the older description stays, which can only lack columns. */
export function writeStoredTables(dataDir: string, tables: StoredTables): void {
  try {
    write(dataDir, { store: STORE_VERSION, tables: Object.fromEntries(tables) });
  } catch {
    // The service does not need it.
  }
}

/** Reads the description of the tables; empty if there is no store yet. */
export function readStoredTables(dataDir: string): StoredTables {
  return new Map(Object.entries(readStoreFile(dataDir)?.tables ?? {}));
}

function write(dataDir: string, file: StoreFile): void {
  const text = `${JSON.stringify(file)}\n`;
  const path = join(dataDir, FILE);
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) replaceFile(path, text);
}

/** @returns `undefined` if the file is missing or damaged */
function readStoreFile(dataDir: string): StoreFile | undefined {
  try {
    return JSON.parse(readFileSync(join(dataDir, FILE), 'utf8')) as StoreFile; // by `write`
  } catch {
    return undefined;
  }
}

// All processes on a server share this text in the comment of each table, after any text of an operator: the version
// of its layout.
const MARK = /\s*\[tailrace store (\d+)\]$/;

/**
 * Checks the versions of a server's tables; one without a mark was being created when its process ended. Call it before
 * `applySchema`.
 *
 * @throws InputError if any table of the database is of another version
 */
export async function checkServerStore(engine: Engine): Promise<void> {
  for (const table of (await readTables(engine)).values()) {
    const version = parseMark(table);
    if (version !== undefined) rejectOther('CLICKHOUSE_URL: the event store there', version);
  }
}

/** Writes the version into the comment of each table that does not have it. */
export async function markServerStore(engine: Engine, sources: readonly Source[]): Promise<void> {
  const tables = await readTables(engine);
  for (const source of sources) {
    const table = tables.get(storedTable(source, engine.cluster));
    if (table === undefined || parseMark(table) === STORE_VERSION) continue;
    const comment = `${table.comment.replace(MARK, '')} [tailrace store ${STORE_VERSION}]`.trimStart();
    await engine.command(alterTable(source, engine.cluster, sql`MODIFY COMMENT ${comment}`));
  }
}

/** @returns the version; `undefined` without a mark, as in tables without rows: views have other comments (schema.ts) */
function parseMark({ engine, comment }: StoredTable): number | undefined {
  const version = engine.endsWith('MergeTree') ? MARK.exec(comment)?.[1] : undefined;
  return version === undefined ? undefined : Number(version);
}
