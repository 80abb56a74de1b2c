import type { KeyRecord } from './key-record.ts';

/** A statement with `$1`, `$2`, … for its values. SQLite and PostgreSQL run the same texts. */
export interface Statement {
  readonly text: string;
  readonly values: readonly Value[];
}

export type Value = string | number | null | Uint8Array;

/** Values by column. */
export type Row = Readonly<Record<string, unknown>>;

/** What a transaction writes, and its result. */
export interface Writes<T> {
  readonly statements: readonly Statement[];
  readonly result: T;
}

export interface TransactionOptions {
  /** `false`: a loss of power may undo it, so it need not wait for the disk. */
  readonly isDurable?: boolean;
  /** Whether a full disk gives back a part of its reserve for it. */
  readonly usesReserve?: boolean;
}

/** A database that holds the control store. Its failures are TailraceErrors: `overloaded` or `engine_unavailable`. */
export interface ControlDatabase {
  /** SQL of the database's own clock, ms since the epoch: leases of several processes are compared by one clock. */
  readonly nowMs: string;
  run(statement: Statement): Promise<Row[]>;
  /** Runs `reads`, then what `decide` makes of their rows, in one transaction. If `decide` throws, nothing is written. */
  transact<T>(
    reads: readonly Statement[],
    decide: (found: readonly (readonly Row[])[]) => Writes<T>,
    options?: TransactionOptions,
  ): Promise<T>;
  /** See `ControlStore.findKey`: each database detects the changes of other processes in its own way. */
  findKey(id: string): KeyRecord | undefined | Promise<KeyRecord | undefined>;
  /**
   * Called after this process has changed keys, or added entries of the audit trail under the lock of changes.
   *
   * @param count of the changes with this one; `undefined` if it may have failed
   */
  forget(ids: readonly string[], count: number | undefined): void;
  isUp(): boolean;
  close(): Promise<void>;
}

/** Reads the key with an id. */
export function findOne(id: string): Statement {
  return { text: 'SELECT * FROM tailrace_keys WHERE id = $1', values: [id] };
}

/**
 * Returns a statement that adds rows.
 *
 * @param rows at least one, all with the same columns
 * @param rest such as `ON CONFLICT DO NOTHING`
 */
export function insert(
  table: string,
  rows: readonly Readonly<Record<string, Value>>[],
  rest = '',
): Statement {
  const columns = Object.keys(rows[0] ?? {});
  const lists = rows.map(
    (_, i) => `(${columns.map((_column, j) => `$${i * columns.length + j + 1}`).join(', ')})`,
  );
  return {
    text: `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${lists.join(', ')} ${rest}`,
    values: rows.flatMap((row) => columns.map((column) => row[column] ?? null)),
  };
}

/** PostgreSQL's text has no NUL and no halves of a surrogate pair: both databases store the same instead. */
export function toStorable(value: Value): Value {
  return typeof value === 'string' ? value.replaceAll('\0', '\ufffd').toWellFormed() : value;
}

/** How many changes there were. A process that reads another number than before may have outdated keys in memory. */
export const COUNT_CHANGES: Statement = { text: 'SELECT count FROM tailrace_changes', values: [] };

/** Counts one more change. Holds the row until the end of its transaction, so that changes come one after another. */
export const LOCK_CHANGES: Statement = {
  text: 'UPDATE tailrace_changes SET count = count + 1 RETURNING count',
  values: [],
};

/** @throws Error if the row is missing: without it no change would ever be detected */
export function toChangeCount([row]: readonly Row[]): number {
  if (row === undefined) throw new Error('the table tailrace_changes has lost its row');
  return Number(row['count']);
}
