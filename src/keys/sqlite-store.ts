import { dirname, join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { InputError, messageOf, TailraceError } from '../errors.ts';
import { describeFolderFailure, makeFolder, makePrivateFile } from '../lib/file.ts';
import { withReserve } from '../lib/reserve.ts';
import { findSqliteFailure, toStartError } from '../lib/system-failure.ts';
import { type ControlStore, createControlStore } from './control-store.ts';
import {
  CONTROL_VERSION,
  type ControlDatabase,
  createSchema,
  describeOtherVersion,
  findOne,
  type Row,
  type Statement,
  toStorable,
} from './database.ts';
import { type KeyRecord, toRecord } from './grant.ts';
import { createKnown } from './known-keys.ts';

/** In the data directory. */
export const SQLITE_FILE = 'control.sqlite';
// Writes of other processes take milliseconds. The wait blocks the event loop, so it is short.
const BUSY_TIMEOUT_MS = 1_000;

/**
 * Opens the control store of a data directory, or creates it. SQLite in WAL mode: the commands and the service use it
 * at the same time. Each method does its work synchronously, before it returns its promise.
 * @throws InputError if the directory cannot be used, or was written by another version
 */
export function openSqliteStore(dataDir: string): ControlStore {
  const database = withReserve(dataDir, () => openDatabase(join(dataDir, SQLITE_FILE)));
  const run = createRun(database);
  return createControlStore({
    nowMs: `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
    run: async (statement) => run(statement),
    async transact(reads, decide, { isDurable = true, usesReserve = false } = {}) {
      const work = () => {
        const { statements, result } = decide(reads.map(run));
        for (const statement of statements) run(statement);
        return result;
      };
      const write = () =>
        orUnavailable(() => {
          // In WAL mode the disk is waited for only if a transaction must survive a loss of power.
          if (!isDurable) database.exec('PRAGMA synchronous = NORMAL');
          try {
            return transact(database, work);
          } finally {
            if (!isDurable) database.exec('PRAGMA synchronous = FULL');
          }
        });
      return usesReserve ? withReserve(dataDir, write) : write();
    },
    ...createKeyCache(run),
    isUp: () => true,
    close: async () => database.close(),
  });
}

type Run = (statement: Statement) => Row[];

function createRun(database: DatabaseSync): Run {
  const prepared = new Map<string, StatementSync>(); // the stores have a fixed set of texts
  return ({ text, values }) =>
    orUnavailable(() => {
      const statement = prepared.get(text) ?? database.prepare(text.replaceAll(/\$(\d+)/g, '?$1'));
      prepared.set(text, statement);
      return statement.all(...values.map(toStorable));
    });
}

// A check costs a third of reading a key; a check at every look-up would make the cache slower than no cache for many keys.
const FRESH_MS = 20;
const RECORDS_MAX = 10_000; // about 6 MB

/** Keys that were read a moment ago: every `FRESH_MS` the first look-up asks whether another process has written. */
function createKeyCache(run: Run): Pick<ControlDatabase, 'findKey' | 'forget'> {
  const known = createKnown<KeyRecord>({
    read: async (id) => run(findOne(id)).map(toRecord)[0],
    ageMs: () => 0,
    isDown: () => false,
    ...{ freshMs: FRESH_MS, staleMs: 0, max: RECORDS_MAX, ticks: () => 0 },
  });
  let seen: unknown;
  let freshUntilMs = 0;

  return {
    findKey(id) {
      const nowMs = performance.now(); // never set back, as the clock may be
      if (nowMs >= freshUntilMs) {
        freshUntilMs = nowMs + FRESH_MS;
        // A number that changes with each commit of another connection.
        const version = run({ text: 'PRAGMA data_version', values: [] })[0]?.['data_version'];
        if (version !== seen) known.forget();
        seen = version;
      }
      return known.find(id);
    },
    forget: known.forget,
  };
}

/** Maps a failure of SQLite to an error of the API with a status that lets clients try again; returns any other as it is. */
function orUnavailable<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const failure = findSqliteFailure(cause);
    if (failure === undefined) throw cause;
    if (failure !== 'other') throw new TailraceError('overloaded', OVERLOADED[failure], { cause });
    const message = `the key store in the data directory cannot be used: ${messageOf(cause)}`;
    throw new TailraceError('engine_unavailable', message, { cause });
  }
}

const OVERLOADED = {
  full: 'the disk of the data directory is full: nothing was written to the key store; make room and try again',
  busy: 'another process is changing the key store; try again',
};

/** Opens a database that only its owner can read, or creates it with its folder. */
function openDatabase(file: string): DatabaseSync {
  try {
    makeFolder(dirname(file), 0o700);
    makePrivateFile(file);
    const database = new DatabaseSync(file);
    // FULL: an acknowledged revocation must survive a power cut.
    database.exec(
      `PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`,
    );
    transact(database, () => createTables(database));
    return database;
  } catch (error) {
    throw toStartError(`the key store ${file} cannot be opened: ${describeFolderFailure(error)}`, error);
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

function createTables(database: DatabaseSync): void {
  const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
  if (version === CONTROL_VERSION) return; // nothing to write, so the service starts even on a full disk
  if (version !== 0) throw new InputError([describeOtherVersion('the key store is', version)]);
  for (const statement of createSchema('sqlite')) database.exec(statement);
  database.exec(`PRAGMA user_version = ${CONTROL_VERSION}`);
}
