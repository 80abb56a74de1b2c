import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { InputError, messageOf } from '../errors.ts';
import { makePrivateFile } from '../lib/private-file.ts';
import { isScope, type Scope } from './scope.ts';

/** A key as it is kept: its hash, never itself. Times are ms since the epoch. */
export interface KeyRecord {
  readonly id: string;
  readonly name: string;
  readonly hash: Uint8Array;
  readonly scopes: readonly Scope[];
  readonly createdMs: number;
  readonly expiresMs: number | undefined;
  readonly revokedMs: number | undefined;
}

/** Where keys live. Every process on the same data directory sees a change at its next look-up. */
export interface ControlStore {
  findKey(id: string): KeyRecord | undefined;
  /** Newest first. */
  listKeys(): KeyRecord[];
  addKey(record: KeyRecord): void;
  /** @returns whether there was a key of this id that was not revoked yet */
  revokeKey(id: string, revokedMs: number): boolean;
  close(): void;
}

const FILE = 'control.sqlite';
// Another process writes for milliseconds; a second of patience is plenty and keeps the event loop from hanging on it.
const BUSY_TIMEOUT_MS = 1_000;

const MIGRATIONS = [
  `CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    hash BLOB NOT NULL,
    scopes TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER,
    revoked_ms INTEGER
  ) STRICT`,
];

/**
 * Opens the control store of a data directory, making it where it is missing. SQLite in WAL mode: the shell commands and
 * the service use it at the same time.
 *
 * @throws InputError when the directory cannot be used, or was written by a newer version
 */
export function openControlStore(dataDir: string): ControlStore {
  const database = openDatabase(dataDir);
  const find = database.prepare('SELECT * FROM keys WHERE id = ?');
  const list = database.prepare('SELECT * FROM keys ORDER BY created_ms DESC, id');
  const add = database.prepare(
    'INSERT INTO keys (id, name, hash, scopes, created_ms, expires_ms, revoked_ms) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const revoke = database.prepare('UPDATE keys SET revoked_ms = ? WHERE id = ? AND revoked_ms IS NULL');
  return {
    findKey(id) {
      const row = find.get(id);
      return row === undefined ? undefined : toRecord(row);
    },
    listKeys: () => list.all().map(toRecord),
    addKey(record) {
      const { id, name, hash, scopes, createdMs, expiresMs, revokedMs } = record;
      add.run(id, name, hash, scopes.join(','), createdMs, expiresMs ?? null, revokedMs ?? null);
    },
    revokeKey: (id, revokedMs) => revoke.run(revokedMs, id).changes === 1,
    close: () => database.close(),
  };
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
    migrate(database);
    return database;
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError([`the key store ${file} cannot be opened: ${messageOf(error)}`], { cause: error });
  }
}

function migrate(database: DatabaseSync): void {
  database.exec('BEGIN IMMEDIATE');
  const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
  if (version > MIGRATIONS.length) {
    database.exec('ROLLBACK');
    throw new InputError([
      `the key store is of version ${version}, newer than this Tailrace (${MIGRATIONS.length}); update Tailrace`,
    ]);
  }
  for (const migration of MIGRATIONS.slice(version)) database.exec(migration);
  database.exec(`PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`);
}

function toRecord(row: NonNullable<ReturnType<StatementSync['get']>>): KeyRecord {
  const time = (value: unknown) => (value === null ? undefined : Number(value));
  return {
    id: String(row['id']),
    name: String(row['name']),
    hash: row['hash'] instanceof Uint8Array ? row['hash'] : new Uint8Array(),
    scopes: String(row['scopes']).split(',').filter(isScope),
    createdMs: Number(row['created_ms']),
    expiresMs: time(row['expires_ms']),
    revokedMs: time(row['revoked_ms']),
  };
}
