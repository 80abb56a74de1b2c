import type { KeyRecord } from './grant.ts';

/** A statement with `$1`, `$2`, … for its values. SQLite and PostgreSQL run the same texts. */
export interface Statement {
  readonly text: string;
  readonly values: readonly Value[];
}

export type Value = string | number | null | Uint8Array;

/** Values by column. */
export type Row = Readonly<Record<string, unknown>>;

/** A database that holds the control store. Its failures are TailraceErrors: `overloaded` or `engine_unavailable`. */
export interface ControlDatabase {
  /** SQL of the database's own clock, ms since the epoch: leases of several processes are compared by one clock. */
  readonly nowMs: string;
  run(statement: Statement): Promise<Row[]>;
  /**
   * Runs `reads`, then what `decide` makes of their rows, in one transaction. If `decide` throws, nothing is written.
   * `isDurable: false`: a loss of power may undo it, so it need not wait for the disk. `usesReserve`: a full disk gives
   * back a part of its reserve for it.
   */
  transact<T>(
    reads: readonly Statement[],
    decide: (found: readonly (readonly Row[])[]) => {
      readonly statements: readonly Statement[];
      readonly result: T;
    },
    options?: { readonly isDurable?: boolean; readonly usesReserve?: boolean },
  ): Promise<T>;
  /** See `ControlStore.findKey`: each database detects the changes of other processes in its own way. */
  findKey(id: string): KeyRecord | undefined | Promise<KeyRecord | undefined>;
  /** Called after this process has changed keys, or may have. */
  forget(ids: readonly string[]): void;
  isUp(): boolean;
  close(): Promise<void>;
}

/** Runs a statement. If it returns rows, its text names the columns of `T`, which are texts and numbers. */
export type Execute = <T extends object>(text: string, ...values: Statement['values']) => Promise<T[]>;

export function createExecute({ run }: Pick<ControlDatabase, 'run'>): Execute {
  return <T extends object>(text: string, ...values: Statement['values']) =>
    run({ text, values }) as Promise<unknown> as Promise<T[]>;
}

/** Reads the key with an id. */
export function findOne(id: string): Statement {
  return { text: 'SELECT * FROM tailrace_keys WHERE id = $1', values: [id] };
}

/** Returns a statement that adds rows: at least one, all with the same columns. @param rest such as `ON CONFLICT …` */
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

/** The version of the control store's tables. A store of another version is rejected by name. */
export const CONTROL_VERSION = 12;

/** The words of `TABLES` that PostgreSQL and SQLite write differently. "C" compares texts byte by byte, as SQLite does. */
const TYPES = {
  sqlite: { INT: 'INTEGER', BYTES: 'BLOB', SERIAL: 'INTEGER PRIMARY KEY AUTOINCREMENT' },
  postgres: {
    ...{ TEXT: 'text COLLATE "C"', INT: 'bigint', REAL: 'double precision', BYTES: 'bytea' },
    SERIAL: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  },
};

const TABLES = {
  // record: JSON. change: the number of the key's last change.
  keys: `id TEXT PRIMARY KEY, hash BYTES NOT NULL, record TEXT NOT NULL, created_ms INT NOT NULL, last_used_ms INT,
    change INT NOT NULL`,
  // One row: how many changes of keys there were. A process that makes one holds it; all others read it.
  changes: 'only_row INT PRIMARY KEY CHECK (only_row = 1), count INT NOT NULL',
  audit: `id SERIAL, at_ms INT NOT NULL, action TEXT NOT NULL, key_id TEXT NOT NULL, actor TEXT NOT NULL,
    detail TEXT NOT NULL, count INT NOT NULL, address TEXT NOT NULL`,
  // One row: the last entry of the trail that is an event, too, and the last one of the batch that is being copied.
  audit_copy: `only_row INT PRIMARY KEY CHECK (only_row = 1), copied INT NOT NULL, claimed INT NOT NULL`,
  // record: JSON. login: null for a key, since only a sign-in at the provider opens one session.
  sessions: `id TEXT PRIMARY KEY, owner TEXT NOT NULL, login TEXT UNIQUE, record TEXT NOT NULL,
    created_ms INT NOT NULL, seen_ms INT NOT NULL, expires_ms INT NOT NULL`,
  alert_states: 'alert TEXT PRIMARY KEY, state TEXT NOT NULL',
  alert_history: 'id TEXT PRIMARY KEY, alert TEXT NOT NULL, at_ms INT NOT NULL, entry TEXT NOT NULL',
  alert_silences: `id TEXT PRIMARY KEY, alert TEXT NOT NULL, labels TEXT NOT NULL, until_ms INT NOT NULL,
    comment TEXT NOT NULL, author TEXT NOT NULL, created_ms INT NOT NULL`,
  alert_outbox: `id TEXT PRIMARY KEY, alert TEXT NOT NULL, receiver TEXT NOT NULL, message TEXT NOT NULL,
    tries INT NOT NULL, first_ms INT NOT NULL, due_ms INT NOT NULL, reason TEXT NOT NULL`,
  // One row: which process evaluates, by the database's clock. Each taking has a new fence, which its writes check.
  alert_lease: `only_row INT PRIMARY KEY CHECK (only_row = 1), owner TEXT NOT NULL, fence INT NOT NULL,
    until_ms INT NOT NULL, writes INT NOT NULL`,
  // A ring: a row for each five minutes of a day, which that of the next day replaces.
  alert_points: `alert TEXT NOT NULL, slot INT NOT NULL, measure TEXT NOT NULL, at_ms INT NOT NULL,
    low REAL NOT NULL, high REAL NOT NULL, PRIMARY KEY (alert, slot)`,
};

const AFTER_TABLES = [
  'CREATE INDEX tailrace_keys_by_age ON tailrace_keys (created_ms, id)',
  'CREATE INDEX tailrace_keys_by_change ON tailrace_keys (change)',
  `CREATE INDEX tailrace_audit_rejections ON tailrace_audit (id) WHERE action = 'refused'`,
  `CREATE INDEX tailrace_audit_changes ON tailrace_audit (id) WHERE action <> 'refused'`,
  'CREATE INDEX tailrace_sessions_by_owner ON tailrace_sessions (owner, created_ms, id)',
  'CREATE INDEX tailrace_alert_history_by_alert ON tailrace_alert_history (alert, id)',
  'CREATE INDEX tailrace_alert_outbox_by_receiver ON tailrace_alert_outbox (receiver, id)',
  'INSERT INTO tailrace_changes VALUES (1, 0)',
  'INSERT INTO tailrace_audit_copy VALUES (1, 0, 0)',
  `INSERT INTO tailrace_alert_lease VALUES (1, '', 0, 0, 0)`,
];

/** Returns the statements that create the tables in an empty database. */
export function createSchema(kind: keyof typeof TYPES): string[] {
  const types: Readonly<Record<string, string>> = TYPES[kind];
  const end = kind === 'sqlite' ? ' STRICT' : '';
  const tables = Object.entries(TABLES).map(([name, columns]) => {
    const written = columns.replaceAll(/\b(?:TEXT|INT|REAL|BYTES|SERIAL)\b/g, (word) => types[word] ?? word);
    return `CREATE TABLE tailrace_${name} (${written})${end}`;
  });
  return [...tables, ...AFTER_TABLES];
}

/** Describes a store that this build cannot use. @param what names it, such as `the key store is` */
export function describeOtherVersion(what: string, version: number): string {
  const versions = `version ${version}, and this Tailrace uses version ${CONTROL_VERSION}`;
  return `${what} of ${versions}: use the build that wrote it, or a new store`;
}
