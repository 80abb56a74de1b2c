import type { AlertStore } from './alerts/alert-store.ts';
import type { AuditCopy } from './audit/audit-copy.ts';
import type { AuditEntry, AuditPage, StoredEntry } from './audit/audit-entry.ts';
import type { KeyRecord } from './key-record.ts';
import type { SessionStore } from './sessions/session-store.ts';

export interface KeyPage {
  readonly limit: number;
  /** Id of the last key of the previous page; after an unknown id the page is empty. */
  readonly before?: string;
}

/** The writes of one transaction, and its result. */
export interface Change<T> {
  readonly add?: readonly KeyRecord[];
  /** Replaces everything of an existing key except its identity and the times of its creation and last use. */
  readonly update?: KeyRecord;
  readonly entries?: readonly AuditEntry[];
  readonly result: T;
}

/** Collected uses and rejections of keys, written in the background. */
export interface Activity {
  /** Ids and the times of their last use, ms since the epoch. An earlier time changes nothing. */
  readonly used: readonly (readonly [id: string, atMs: number])[];
  readonly entries: readonly AuditEntry[];
}

/**
 * The store of keys and their audit trail. A process sees its own changes at its next look-up, those of others within 20 ms in SQLite
 * and within 2 s in PostgreSQL, where a failed read or write is a TailraceError `engine_unavailable`.
 */
export interface ControlStore {
  /** Finds a key to admit a caller; synchronously if it is known. @throws TailraceError `overloaded` if too many look-ups wait already */
  findKey(id: string): KeyRecord | undefined | Promise<KeyRecord | undefined>;
  /** Reads a key from the store, not from memory, with its last use. */
  readKey(id: string): Promise<KeyRecord | undefined>;
  /** Newest first; all of them without a page. */
  listKeys(page?: KeyPage): Promise<KeyRecord[]>;
  /** Newest first. */
  listEntries(page: AuditPage): Promise<StoredEntry[]>;
  /**
   * Writes a change in one transaction, during which no other process changes keys.
   *
   * @param ids the keys that it depends on
   * @param decide returns the change; it can find only these keys
   */
  change<T>(
    ids: readonly string[],
    decide: (find: (id: string) => KeyRecord | undefined) => Change<T>,
  ): Promise<T>;
  record(activity: Activity): Promise<void>;
  readonly alerts: AlertStore;
  readonly sessions: SessionStore;
  readonly auditCopy: AuditCopy;
  /** Whether the last probe reached it. */
  isUp(): boolean;
  close(): Promise<void>;
}
