import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { TableFingerprint } from '../../engine/store-fingerprint.ts';
import type { EarlierMarks, EarlierTableMarks, WriteVersion } from '../../engine/write-marks.ts';
import { openSqlite } from '../../lib/open-sqlite.ts';
import { transact } from '../../lib/sqlite.ts';

/** An answer as the file has it. */
export interface StoredAnswer {
  readonly key: string;
  readonly body: Uint8Array;
  readonly rows: number;
  readonly rowStarts: Uint32Array;
  readonly instantMs: number;
  readonly engineMs: number;
  readonly version: WriteVersion;
  readonly lostUntil: number;
  /** From then on it is of no use, ms since the epoch. */
  readonly expiresMs: number;
}

type Fingerprint = Pick<TableFingerprint, 'table' | 'days'>;

/** The state of one table: its fingerprint, and what has changed since the state before. */
export interface StoredState extends Fingerprint {
  readonly name: string;
  readonly changed: EarlierTableMarks;
}

/** What the file knows of the store, for the next process. */
export interface EarlierState {
  readonly marks: EarlierMarks;
  readonly tables: ReadonlyMap<string, Fingerprint>;
}

export type AnswerFile = ReturnType<typeof openAnswerFile>;

const FILE = 'time-buckets.sqlite';

// Deleted answers are overwritten: a deletion of events has to reach them, too.
const TABLES = `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON;
  CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY, program TEXT NOT NULL, version INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS tables (name TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, whole INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS days (
    name TEXT NOT NULL, day TEXT NOT NULL, fingerprint TEXT NOT NULL, PRIMARY KEY (name, day)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS minutes (
    name TEXT NOT NULL, minute INTEGER NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (name, minute)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY, body BLOB NOT NULL, row_count INTEGER NOT NULL, row_starts BLOB NOT NULL,
    instant_ms INTEGER NOT NULL, engine_ms REAL NOT NULL, version INTEGER NOT NULL, lost_until INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL, bytes INTEGER NOT NULL, checksum INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS answers_by_version ON answers (version);
  CREATE INDEX IF NOT EXISTS answers_by_expiry ON answers (expires_ms)`;

// Beside the body: its key twice, with the index, and the numbers.
const ANSWER_OVERHEAD_BYTES = 256;

/** Removes the file: its answers are computed again. */
export function removeAnswerFile(dataDir: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(dataDir, FILE + suffix), { force: true });
}

/**
 * Opens the file with the answers of endpoints with time buckets, in the data directory. That of another program, whose answers may have other bytes, is
 * emptied.
 *
 * @param program names the versions of this program and the engine
 * @throws InputError if it cannot be used, TransientError if that may pass
 */
export function openAnswerFile(dataDir: string, program: string) {
  const prepare = (opened: DatabaseSync) => {
    opened.exec(TABLES);
    const written = opened.prepare('SELECT program FROM state').get();
    if (written !== undefined && written['program'] !== program)
      opened.exec(
        'DELETE FROM answers; DELETE FROM minutes; DELETE FROM days; DELETE FROM tables; DELETE FROM state',
      );
  };
  const database = openSqlite(join(dataDir, FILE), 'the file of time buckets', prepare);
  return {
    ...createAnswers(database),
    ...createState(database, program),
    close: () => database.close(),
  };
}

function createAnswers(database: DatabaseSync) {
  const find = database.prepare('SELECT * FROM answers WHERE key = ? AND expires_ms > ?');
  const put = database.prepare('INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const expire = database.prepare('DELETE FROM answers WHERE expires_ms <= ?');
  const total = database.prepare('SELECT sum(bytes) AS bytes FROM answers');
  const oldest = database.prepare('SELECT key, bytes FROM answers ORDER BY expires_ms');
  const remove = database.prepare('DELETE FROM answers WHERE key = ?');

  function shrink(bytesMax: number): void {
    let bytes = Number(total.get()?.['bytes'] ?? 0);
    if (bytes <= bytesMax) return;
    for (const row of oldest.all()) {
      if (bytes <= bytesMax) return;
      remove.run(String(row['key']));
      bytes -= Number(row['bytes']);
    }
  }

  return {
    /** Finds an answer that has not expired; a damaged one is not found. */
    find(key: string, nowMs: number): StoredAnswer | undefined {
      const row = find.get(key, nowMs);
      return row && readAnswer(row);
    },
    put(answers: readonly StoredAnswer[]): void {
      transact(database, () => {
        for (const one of answers) {
          const starts = bytesOf(one.rowStarts);
          const bytes = one.body.length + starts.length + 2 * one.key.length + ANSWER_OVERHEAD_BYTES;
          put.run(
            ...[one.key, one.body, one.rows, starts, one.instantMs, one.engineMs, one.version, one.lostUntil],
            ...[one.expiresMs, bytes, crc32(starts, crc32(one.body))],
          );
        }
      });
    },
    /** Deletes what has expired and then, beyond so many bytes, what expires first. */
    prune(nowMs: number, bytesMax: number): void {
      transact(database, () => {
        expire.run(nowMs);
        shrink(bytesMax);
      });
    },
  };
}

type Row = Record<string, unknown>;

function readAnswer(row: Row): StoredAnswer | undefined {
  const { body, row_starts: starts } = row;
  if (!(body instanceof Uint8Array) || !(starts instanceof Uint8Array)) return undefined;
  if (crc32(starts, crc32(body)) !== row['checksum'] || starts.length % Uint32Array.BYTES_PER_ELEMENT !== 0)
    return undefined;
  return {
    key: String(row['key']),
    body,
    rows: Number(row['row_count']),
    rowStarts: new Uint32Array(Uint8Array.from(starts).buffer), // aligned
    instantMs: Number(row['instant_ms']),
    engineMs: Number(row['engine_ms']),
    version: Number(row['version']),
    lostUntil: Number(row['lost_until']),
    expiresMs: Number(row['expires_ms']),
  };
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function createState(database: DatabaseSync, program: string) {
  const readAll = (table: string) => database.prepare(`SELECT * FROM ${table}`).all();
  const setState = database.prepare('INSERT OR REPLACE INTO state VALUES (1, ?, ?)');
  const setTable = database.prepare(
    'INSERT INTO tables VALUES (?1, ?2, ?3) ON CONFLICT (name) DO UPDATE SET fingerprint = ?2, whole = max(whole, ?3)',
  );
  const setDay = database.prepare('INSERT OR REPLACE INTO days VALUES (?, ?, ?)');
  const setMinute = database.prepare('INSERT OR REPLACE INTO minutes VALUES (?, ?, ?)');
  const removeDays = database.prepare('DELETE FROM days WHERE name = ?');
  const removeMinutes = database.prepare('DELETE FROM minutes WHERE name = ? AND version <= ?');
  const removeStale = database.prepare('DELETE FROM answers WHERE version < (SELECT min(whole) FROM tables)');
  const findFloor = database.prepare('SELECT coalesce(min(version), ?) AS version FROM answers');
  const removeSeen = database.prepare('DELETE FROM minutes WHERE version <= ?');

  function writeTable({ name, table, days, changed }: StoredState): void {
    setTable.run(name, table, changed.wholeVersion);
    removeMinutes.run(name, changed.wholeVersion);
    for (const [minute, version] of changed.minutes) setMinute.run(name, minute, version);
    removeDays.run(name);
    for (const [day, fingerprint] of days) setDay.run(name, day, fingerprint);
  }

  return {
    /**
     * Writes the state of tables at a version, and forgets the writes that all answers have seen.
     *
     * @returns the version from which on the writes are known: an earlier answer must not be put
     */
    writeState(tables: readonly StoredState[], version: WriteVersion): WriteVersion {
      return transact(database, () => {
        tables.forEach(writeTable);
        removeStale.run();
        const floor = Number(findFloor.get(version)?.['version']);
        removeSeen.run(floor);
        setState.run(program, version);
        return floor;
      });
    },
    /** Reads the last state; `undefined` if there is none. Its version is that of the latest answer, or later. */
    readState(): EarlierState | undefined {
      const [state] = readAll('state');
      if (state === undefined) return undefined;
      const newest = database.prepare('SELECT max(version) AS version FROM answers').get();
      const version = Math.max(Number(state['version']), Number(newest?.['version'] ?? 0));
      const daysOf = Map.groupBy(readAll('days'), ({ name }) => name);
      const minutesOf = Map.groupBy(readAll('minutes'), ({ name }) => name);
      const rows = readAll('tables');
      const tables = rows.map(({ name, fingerprint }) => {
        const days = (daysOf.get(name) ?? []).map(
          (row) => [String(row['day']), String(row['fingerprint'])] as const,
        );
        return [String(name), { table: String(fingerprint), days: new Map(days) }] as const;
      });
      const marks = rows.map(({ name, whole }) => {
        const minutes = (minutesOf.get(name) ?? []).map(
          (row) => [Number(row['minute']), Number(row['version'])] as const,
        );
        return [String(name), { wholeVersion: Number(whole), minutes: new Map(minutes) }] as const;
      });
      return { marks: { version, tables: new Map(marks) }, tables: new Map(tables) };
    },
  };
}
