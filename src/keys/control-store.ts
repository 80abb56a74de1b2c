import { createAlertStore } from './alerts/alert-store.ts';
import {
  type AuditEntry,
  createAuditCopy,
  createAuditWriter,
  readEntries,
  type StoredEntry,
} from './audit.ts';
import {
  type ControlDatabase,
  createExecute,
  findOne,
  insert,
  LOCK_CHANGES,
  type Row,
  toChangeCount,
} from './database.ts';
import { type KeyRecord, toRecord, toRow } from './grant.ts';
import { createSessionStore } from './session-store.ts';

export interface KeyPage {
  readonly limit: number;
  /** Id of the last key of the previous page; after an unknown id the page is empty. */
  readonly before?: string;
}

/** `before`: id of the last entry seen. */
interface AuditPage {
  readonly limit: number;
  readonly before?: number | undefined;
}

/** The writes of one transaction, and its result. */
export interface Change<T> {
  readonly add?: readonly KeyRecord[];
  /** Replaces everything of an existing key except its identity and the times of its creation and last use. */
  readonly update?: KeyRecord;
  readonly entries?: readonly AuditEntry[];
  readonly result: T;
}

/** Id of a key and the time of its last use, ms since the epoch. */
type Use = readonly [id: string, atMs: number];

/** The store of keys, their audit trail, sessions and alerts: see `createControlStore`. */
export type ControlStore = ReturnType<typeof createControlStore>;

const ALL = Number.MAX_SAFE_INTEGER; // a LIMIT for no limit that both databases have

/**
 * Creates the control store over its database. A process sees its own changes at its next look-up, those of others within
 * 20 ms in SQLite and within 2 s in PostgreSQL, where a failed read or write is a TailraceError `engine_unavailable`.
 */
export function createControlStore(database: ControlDatabase) {
  const { run, transact } = database;
  const execute = createExecute(database);
  const addEntries = createAuditWriter();
  return {
    /** Finds a key to admit a caller; synchronously if it is known. @throws TailraceError `overloaded` */
    findKey: database.findKey,
    /** Reads a key from the store, not from memory, with its last use. */
    readKey: async (id: string): Promise<KeyRecord | undefined> => (await run(findOne(id))).map(toRecord)[0],
    /** Newest first; all of them without a page. */
    async listKeys({ before = '', limit }: KeyPage = { limit: ALL }): Promise<KeyRecord[]> {
      const text = `SELECT * FROM tailrace_keys
        WHERE $1 = '' OR (created_ms, id) < (SELECT created_ms, id FROM tailrace_keys WHERE id = $1)
        ORDER BY created_ms DESC, id DESC LIMIT $2`;
      return (await execute<Row>(text, before, limit)).map(toRecord);
    },
    /** Newest first. */
    listEntries({ limit, before = ALL }: AuditPage): Promise<StoredEntry[]> {
      return readEntries(execute, 'WHERE id < $1 ORDER BY id DESC LIMIT $2', before, limit);
    },
    /** Writes a change in one transaction, during which no other process changes keys. `decide` finds only `ids`. */
    async change<T>(
      ids: readonly string[],
      decide: (find: (id: string) => KeyRecord | undefined) => Change<T>,
    ): Promise<T> {
      let touched = ids;
      const write = ([lock = [], ...found]: Parameters<Parameters<typeof transact>[1]>[0]) => {
        const count = toChangeCount(lock);
        const records = new Map(found.flat().map((row) => [String(row['id']), toRecord(row)]));
        const { add = [], update, entries = [], result } = decide((id) => records.get(id));
        touched = [...ids, ...add.map(({ id }) => id)];
        const added = add.map((record) => insert('tailrace_keys', [{ ...toRow(record), change: count }]));
        const updated = update === undefined ? [] : [updateKey(update, count)];
        return { statements: [...added, ...updated, ...addEntries(entries)], result };
      };
      try {
        return await transact([LOCK_CHANGES, ...ids.map(findOne)], write, { usesReserve: true });
      } finally {
        database.forget(touched); // even if the outcome of the write is unknown
      }
    },
    /** Notes the last uses of keys. An earlier time changes nothing. */
    async noteUses(used: readonly Use[]): Promise<void> {
      // In the order of ids: two processes that lock the same keys in different orders would deadlock.
      const statements = used.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(noteUse);
      if (statements.length > 0) await transact([], () => ({ statements, result: undefined }));
    },
    /** Adds entries to the audit trail. */
    async record(entries: readonly AuditEntry[]): Promise<void> {
      if (entries.length === 0) return;
      // Rejections come all the time, and would spend the reserve.
      const usesReserve = entries.some(({ action }) => action === 'deleted');
      const add = () => ({ statements: addEntries(entries), result: undefined });
      await transact([LOCK_CHANGES], add, { usesReserve }); // entries are committed in the order of their ids
    },
    alerts: createAlertStore(database),
    sessions: createSessionStore(database),
    auditCopy: createAuditCopy(database),
    /** Whether the last probe reached it. */
    isUp: database.isUp,
    close: database.close,
  };
}

function updateKey(key: KeyRecord, change: number) {
  const text = 'UPDATE tailrace_keys SET change = $2, record = $3 WHERE id = $1';
  return { text, values: [key.id, change, toRow(key).record] };
}

function noteUse([id, atMs]: Use) {
  const text = 'UPDATE tailrace_keys SET last_used_ms = $2 WHERE id = $1 AND coalesce(last_used_ms, 0) < $2';
  return { text, values: [id, atMs] };
}
