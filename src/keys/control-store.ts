import type { AuditEntry, AuditPage, StoredEntry } from './audit-entry.ts';
import type { KeyRecord } from './key-record.ts';
import { openPostgresStore } from './postgres-store.ts';
import { openSqliteStore } from './sqlite-store.ts';

export interface KeyPage {
  readonly limit: number;
  /** Id of the last key seen; one that does not exist means that nothing comes after it. */
  readonly before?: string;
}

/** What is to be written in one step, and what comes of it. */
export interface Change<T> {
  readonly add?: readonly KeyRecord[];
  /** Of a key that is there, all but its id, its hash, and when it was made and used. */
  readonly update?: KeyRecord;
  readonly entries?: readonly AuditEntry[];
  readonly result: T;
}

/** What has come together of the use of keys, in no hurry to be written. */
export interface Notes {
  /** Ids, and when they were last used (ms since the epoch): it is only ever set later. */
  readonly used: readonly (readonly [id: string, atMs: number])[];
  readonly entries: readonly AuditEntry[];
}

/**
 * Where keys live. A process sees its own changes at its next look-up; those of others within 20 ms in the data directory,
 * within 2 s in PostgreSQL. What cannot be read or written is a TailraceError `engine_unavailable` there.
 */
export interface ControlStore {
  /** The key of this id, to admit a caller; at once if it is known. @throws TailraceError `overloaded` if too many look-ups wait */
  findKey(id: string): KeyRecord | undefined | Promise<KeyRecord | undefined>;
  /** The key of this id as the store has it now, with when it was last used. */
  readKey(id: string): Promise<KeyRecord | undefined>;
  /** Newest first; all of them unless a page is asked for. */
  listKeys(page?: KeyPage): Promise<KeyRecord[]>;
  /** Newest first. */
  listEntries(page: AuditPage): Promise<StoredEntry[]>;
  /**
   * Writes all of a change, or nothing of it where `decide` or the writing fails. No other process changes keys meanwhile.
   *
   * @param ids the keys that it depends on
   * @param decide told what there is of them
   */
  change<T>(
    ids: readonly string[],
    decide: (find: (id: string) => KeyRecord | undefined) => Change<T>,
  ): Promise<T>;
  note(notes: Notes): Promise<void>;
  /** Whether it can be asked, as far as this process knows. */
  isUp(): boolean;
  close(): Promise<void>;
}

export interface ControlSettings {
  readonly dataDir: string;
  /** Of a PostgreSQL database; empty: SQLite in the data directory. */
  readonly controlUrl: string;
  /** How much longer keys that were seen are accepted while PostgreSQL is away. */
  readonly controlStaleSeconds: number;
}

/**
 * Opens the store of the settings, and makes or updates its tables.
 *
 * @param onState told once when PostgreSQL goes away, with why, and once when it is back
 * @throws InputError when it cannot be used, or was written by a newer version
 */
export async function openControlStore(
  { dataDir, controlUrl, controlStaleSeconds }: ControlSettings,
  onState: (failure?: unknown) => void = () => {},
): Promise<ControlStore> {
  if (controlUrl === '') return openSqliteStore(dataDir);
  return await openPostgresStore(controlUrl, { staleMs: controlStaleSeconds * 1000, onState });
}
