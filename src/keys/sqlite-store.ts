import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { InputError, messageOf, TailraceError } from '../errors.ts';
import { openSqlite } from '../lib/open-sqlite.ts';
import { withReserve } from '../lib/reserve.ts';
import { findSqliteFailure, transact } from '../lib/sqlite.ts';
import { createSqliteAlerts } from './alerts/sqlite-alerts.ts';
import { createAuditCopy } from './audit/audit-copy.ts';
import { type AuditEntry, ENTRIES_MAX, TRIM_EVERY, toAuditRow, toEntry } from './audit/audit-entry.ts';
import type { ControlStore } from './control-store.ts';
import { CHANGEABLE, COLUMNS, type KeyRecord, toRecord, toRow } from './key-record.ts';
import { createSessionStore } from './sessions/session-store.ts';
import { MIGRATIONS } from './sqlite-migrations.ts';
import { createSqliteRun } from './sqlite-run.ts';
import type { Statement } from './statement.ts';

/** In the data directory. */
export const SQLITE_FILE = 'control.sqlite';
// Writes of other processes take milliseconds. The wait blocks the event loop, so it is short.
const BUSY_TIMEOUT_MS = 1_000;

const ALL = -1; // SQLite's LIMIT for no limit

/**
 * Opens the control store of a data directory, or creates it. SQLite in WAL mode: the commands and the service use it at the same
 * time. Each method does its work synchronously, before it returns its promise.
 *
 * @throws InputError if the directory cannot be used, or was written by a newer version
 */
export function openSqliteStore(dataDir: string): ControlStore {
  const open = () => openSqlite(join(dataDir, SQLITE_FILE), 'the key store', prepare);
  const database = withReserve(dataDir, open);
  const find = database.prepare('SELECT * FROM keys WHERE id = ?');
  const list = database.prepare(
    `SELECT * FROM keys WHERE ?1 = '' OR (created_ms, id) < (SELECT created_ms, id FROM keys WHERE id = ?1)
      ORDER BY created_ms DESC, id DESC LIMIT ?2`,
  );
  const listEntries = database.prepare('SELECT * FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?');
  const add = database.prepare(
    `INSERT INTO keys (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})`,
  );
  const update = database.prepare(
    `UPDATE keys SET ${CHANGEABLE.map((column) => `${column} = ?`).join(', ')} WHERE id = ?`,
  );
  const use = database.prepare(
    'UPDATE keys SET last_used_ms = max(coalesce(last_used_ms, 0), ?) WHERE id = ?',
  );
  const addEntry = createAuditWriter(database);
  const cache = createKeyCache(database);
  const run = createSqliteRun(database);
  const ask = async (statement: Statement) => orUnavailable(() => run(statement));

  const readKey = (id: string) => {
    const row = find.get(id);
    return row === undefined ? undefined : toRecord(row);
  };
  const findKey = (id: string) => cache.find(id, () => readKey(id));

  function write<T>(work: () => T): T {
    try {
      return orUnavailable(() => transact(database, work));
    } finally {
      cache.clear();
    }
  }

  const writeOnFullDisk = <T>(work: () => T) => withReserve(dataDir, () => write(work));

  return {
    findKey: (id) => orUnavailable(() => findKey(id)),
    readKey: async (id) => orUnavailable(() => findKey(id)),
    listKeys: async ({ before = '', limit } = { limit: ALL }) =>
      orUnavailable(() => list.all(before, limit).map(toRecord)),
    listEntries: async ({ limit, before = Number.MAX_SAFE_INTEGER }) =>
      orUnavailable(() => listEntries.all(before, limit).map(toEntry)),
    change: async (_ids, decide) =>
      writeOnFullDisk(() => {
        const { add: added = [], update: updated, entries = [], result } = decide(readKey);
        for (const record of added) {
          const row = toRow(record);
          add.run(...COLUMNS.map((column) => row[column]));
        }
        if (updated !== undefined) {
          const row = toRow(updated);
          update.run(...CHANGEABLE.map((column) => row[column]), updated.id);
        }
        for (const entry of entries) addEntry(entry);
        return result;
      }),
    async record({ used, entries }) {
      // Uses and rejections come all the time, and would spend the reserve.
      const isDeletion = entries.some(({ action }) => action === 'deleted');
      (isDeletion ? writeOnFullDisk : write)(() => {
        for (const [id, atMs] of used) use.run(atMs, id);
        for (const entry of entries) addEntry(entry);
      });
    },
    alerts: createSqliteAlerts(database, orUnavailable),
    sessions: createSessionStore(ask),
    auditCopy: createAuditCopy({ run: ask, runAlone: ask }), // SQLite has one writer at a time
    isUp: () => true,
    close: async () => database.close(),
  };
}

/** Adds an entry and occasionally trims each kind to the newest `ENTRIES_MAX`. */
function createAuditWriter(database: DatabaseSync): (entry: AuditEntry) => void {
  const add = database.prepare(
    'INSERT INTO audit (at_ms, action, key_id, actor, detail, count, address) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const trim = database.prepare(
    `DELETE FROM audit WHERE (action = 'refused') = ? AND id <=
      (SELECT id FROM audit WHERE (action = 'refused') = ? ORDER BY id DESC LIMIT 1 OFFSET ${ENTRIES_MAX})`,
  );
  return (entry) => {
    const row = toAuditRow(entry);
    const { at_ms: atMs, key_id: keyId, action, actor, detail, count, address } = row;
    const { lastInsertRowid } = add.run(atMs, action, keyId, actor, detail, count, address);
    if (Number(lastInsertRowid) % TRIM_EVERY !== 0) return;
    for (const refused of [0, 1]) trim.run(refused, refused);
  };
}

// A check costs a third of reading a key; a check at every look-up would make the cache slower than no cache for many keys.
const FRESH_MS = 20;
// About 6 MB.
const RECORDS_MAX = 10_000;

/**
 * Keys that were read a moment ago. A change by this process applies to the next look-up; one by another, such as
 * `tailrace keys revoke`, within `FRESH_MS`, the interval at which the cache asks SQLite whether another process has written.
 */
function createKeyCache(database: DatabaseSync) {
  const version = database.prepare('PRAGMA data_version');
  const records = new LRUCache<string, KeyRecord>({ max: RECORDS_MAX });
  let seen: unknown;
  let freshUntilMs = 0;

  function followOthers(): void {
    const nowMs = performance.now(); // never set back, as the clock may be
    if (nowMs < freshUntilMs) return;
    freshUntilMs = nowMs + FRESH_MS;
    const current = version.get()?.['data_version'];
    if (current !== seen) records.clear();
    seen = current;
  }

  return {
    /** @param read reads a key that is not in the cache */
    find(id: string, read: () => KeyRecord | undefined): KeyRecord | undefined {
      followOthers();
      const kept = records.get(id);
      if (kept !== undefined) return kept;
      const record = read();
      if (record !== undefined) records.set(id, record);
      return record;
    },
    /** Called after a write by this connection, which SQLite does not count. */
    clear: () => records.clear(),
  };
}

/** Maps a failure of SQLite to an error of the API with a status that lets clients try again; returns any other as it is. */
function orUnavailable<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const failure = findSqliteFailure(error);
    if (failure === undefined) throw error;
    if (failure === 'full') throw new TailraceError('overloaded', FULL, { cause: error });
    if (failure === 'busy') throw new TailraceError('overloaded', BUSY, { cause: error });
    const message = `the key store in the data directory cannot be used: ${messageOf(error)}`;
    throw new TailraceError('engine_unavailable', message, { cause: error });
  }
}

const FULL =
  'the disk of the data directory is full: nothing was written to the key store; make room and try again';
const BUSY = 'another process is changing the key store; try again';

function prepare(database: DatabaseSync): void {
  // FULL: an acknowledged revocation must survive a power cut.
  database.exec(
    `PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`,
  );
  transact(database, () => migrate(database));
}

function migrate(database: DatabaseSync): void {
  const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
  if (version > MIGRATIONS.length) {
    throw new InputError([
      `the key store is of version ${version}, newer than this Tailrace (${MIGRATIONS.length}); update Tailrace`,
    ]);
  }
  if (version === MIGRATIONS.length) return; // nothing to write, so the service starts even on a full disk
  for (const migration of MIGRATIONS.slice(version)) database.exec(migration);
  database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
}
