import { existsSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { InputError, TransientError } from '../errors.ts';
import { replaceFile } from '../lib/file.ts';
import { readVersion } from '../version.ts';
import type { StoredTable } from './schema.ts';

/**
 * In the data directory: the version of the embedded store beside it, and its tables for `tailrace check`, since no
 * other process can read the store while a service runs.
 */
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
  readonly tables?: Readonly<Record<string, Omit<StoredTable, 'columns'> & { columns: object }>>;
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
  const described = [...tables].map(([name, table]) => {
    return [name, { ...table, columns: Object.fromEntries(table.columns) }] as const;
  });
  try {
    write(dataDir, { store: STORE_VERSION, tables: Object.fromEntries(described) });
  } catch {
    // The service does not need it.
  }
}

/** Reads the description of the tables; empty if there is no store yet. */
export function readStoredTables(dataDir: string): StoredTables {
  const { tables = {} } = readStoreFile(dataDir) ?? {};
  const described = Object.entries(tables).map(([name, table]) => {
    return [name, { ...table, columns: new Map(Object.entries(table.columns)) }] as const;
  });
  return new Map(described);
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
