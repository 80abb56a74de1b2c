import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { InputError, messageOf } from '../errors.ts';
import { makePrivateFile } from '../lib/private-file.ts';
import { type AuditStore, createAuditStore } from './audit-store.ts';
import { createKeyCache } from './key-cache.ts';
import { type KeyRecord, type KeyRow, toRecord, toRow } from './key-record.ts';
import { MIGRATIONS } from './migrations.ts';

export interface KeyPage {
  readonly limit: number;
  /** Id of the last key seen; one that does not exist means that nothing comes after it. */
  readonly before?: string;
}

/** Where keys live. A process sees its own changes at its next look-up, and those of others within 20 ms. */
export interface ControlStore {
  findKey(id: string): KeyRecord | undefined;
  /** Newest first; all of them unless a page is asked for. */
  listKeys(page?: KeyPage): KeyRecord[];
  addKey(record: KeyRecord): void;
  /** Writes what may change of a key: all but its id, its hash and its times of making, use and revocation. */
  updateKey(record: KeyRecord): void;
  /** @returns whether there was a key of this id that was not revoked yet */
  revokeKey(id: string, revokedMs: number): boolean;
  setLastUsed(id: string, lastUsedMs: number): void;
  readonly audit: AuditStore;
  /** All that `work` writes is written at once, or nothing of it. No other process writes meanwhile. */
  transaction<T>(work: () => T): T;
  close(): void;
}

const FILE = 'control.sqlite';
// Another process writes for milliseconds; a second of patience is plenty and keeps the event loop from hanging on it.
const BUSY_TIMEOUT_MS = 1_000;

// SQLite's way to say no limit.
const ALL = -1;

const COLUMNS = [
  'id',
  'name',
  'description',
  'hash',
  'scopes',
  'endpoints',
  'sources',
  'pins',
  'rate_per_second',
  'rate_burst',
  'created_ms',
  'expires_ms',
  'revoked_ms',
  'last_used_ms',
  'successor',
] as const satisfies readonly (keyof KeyRow)[];

// A key's identity, and what has a way of its own to be written.
const FIXED: ReadonlySet<keyof KeyRow> = new Set(['id', 'hash', 'created_ms', 'revoked_ms', 'last_used_ms']);
const CHANGEABLE = COLUMNS.filter((column) => !FIXED.has(column));

/**
 * Opens the control store of a data directory, making it where it is missing. SQLite in WAL mode: the shell commands and
 * the service use it at the same time.
 *
 * @throws InputError when the directory cannot be used, or was written by a newer version
 */
export function openControlStore(dataDir: string): ControlStore {
  const database = openDatabase(dataDir);
  const find = database.prepare('SELECT * FROM keys WHERE id = ?');
  const list = database.prepare(
    `SELECT * FROM keys WHERE ?1 = '' OR (created_ms, id) < (SELECT created_ms, id FROM keys WHERE id = ?1)
      ORDER BY created_ms DESC, id DESC LIMIT ?2`,
  );
  const add = database.prepare(
    `INSERT INTO keys (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})`,
  );
  const update = database.prepare(
    `UPDATE keys SET ${CHANGEABLE.map((column) => `${column} = ?`).join(', ')} WHERE id = ?`,
  );
  const revoke = database.prepare('UPDATE keys SET revoked_ms = ? WHERE id = ? AND revoked_ms IS NULL');
  const use = database.prepare('UPDATE keys SET last_used_ms = ? WHERE id = ?');
  const cache = createKeyCache(database);
  return {
    findKey: (id) =>
      cache.find(id, () => {
        const row = find.get(id);
        return row === undefined ? undefined : toRecord(row);
      }),
    listKeys: ({ before = '', limit } = { limit: ALL }) => list.all(before, limit).map(toRecord),
    addKey(record) {
      const row = toRow(record);
      add.run(...COLUMNS.map((column) => row[column]));
    },
    updateKey(record) {
      const row = toRow(record);
      update.run(...CHANGEABLE.map((column) => row[column]), record.id);
      cache.clear();
    },
    revokeKey(id, revokedMs) {
      const { changes } = revoke.run(revokedMs, id);
      cache.clear();
      return changes === 1;
    },
    setLastUsed(id, lastUsedMs) {
      use.run(lastUsedMs, id);
      cache.clear();
    },
    audit: createAuditStore(database),
    transaction(work) {
      try {
        return transact(database, () => {
          cache.clear(); // what another process wrote a moment ago must not be written over
          return work();
        });
      } finally {
        cache.clear(); // what was read within it may have been undone
      }
    },
    close: () => database.close(),
  };
}

function transact<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

function openDatabase(dataDir: string): DatabaseSync {
  const file = join(dataDir, FILE);
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    makePrivateFile(file);
    const database = new DatabaseSync(file);
    // FULL: a revocation that was reported must survive a power cut.
    database.exec(
      `PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`,
    );
    transact(database, () => migrate(database));
    return database;
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError([`the key store ${file} cannot be opened: ${messageOf(error)}`], { cause: error });
  }
}

function migrate(database: DatabaseSync): void {
  const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
  if (version > MIGRATIONS.length) {
    throw new InputError([
      `the key store is of version ${version}, newer than this Tailrace (${MIGRATIONS.length}); update Tailrace`,
    ]);
  }
  for (const migration of MIGRATIONS.slice(version)) database.exec(migration);
  database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
}
