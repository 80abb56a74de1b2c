import { insert, type Row, type Statement } from '../database.ts';
import { addEntry, type Transaction } from './alert-record.ts';

/**
 * The tables that are copied into another control store, in this order: the history of a store that was copied into
 * has the traces of the messages that still wait in it, so its outbox comes first. The lease stays, and points, which
 * a day replaces.
 */
export const COPIED_TABLES = ['states', 'outbox', 'history', 'silences'] as const;
export type CopiedTable = (typeof COPIED_TABLES)[number];

/** What it needs of the store's database. */
interface RowDatabase {
  run(statement: Statement): Promise<Row[]>;
  runIf(transaction: Transaction): Promise<boolean>;
}

/** Rows as they are stored. */
export interface RowStore {
  /** Reads the rows after a key, in the order of keys. */
  readRows(table: CopiedTable, after: string, limit: number): Promise<Row[]>;
  /** Adds rows whose keys are new. A state replaces one. @returns how many were added */
  addRows(table: Exclude<CopiedTable, 'outbox'>, rows: readonly Row[]): Promise<number>;
  /**
   * Adds a row of the outbox, once for good: an entry of the history with its id remains after it was sent.
   *
   * @returns whether it was added
   */
  addOutboxRow(
    row: Row,
    entry: { readonly alert: string; readonly entry: string; readonly atMs: number },
  ): Promise<boolean>;
}

const KEYS: Readonly<Record<CopiedTable, string>> = {
  states: 'alert',
  history: 'id',
  silences: 'id',
  outbox: 'id',
};

/** The key of a row. */
export function keyOfRow(table: CopiedTable, row: Row): string {
  return String(row[KEYS[table]]);
}

export function createRowStore({ run, runIf }: RowDatabase): RowStore {
  return {
    readRows(table, after, limit) {
      const key = KEYS[table];
      return run({
        text: `SELECT * FROM tailrace_alert_${table} WHERE ${key} > $1 ORDER BY ${key} LIMIT $2`,
        values: [after, limit],
      });
    },
    async addRows(table, rows) {
      if (rows.length === 0) return 0;
      return (await run(addAll(table, rows))).length;
    },
    addOutboxRow: (row, { alert, ...entry }) => {
      const trace = { id: keyOfRow('outbox', row), ...entry };
      return runIf({
        condition: addEntry(alert, trace, 'ON CONFLICT (id) DO NOTHING RETURNING id'),
        statements: [addAll('outbox', [row])],
        isDurable: true,
      });
    },
  };
}

/** @param rows at least one, all with the columns of their table, which both databases have */
function addAll(table: CopiedTable, rows: readonly Row[]): Statement {
  const action = table === 'states' ? 'UPDATE SET state = excluded.state' : 'NOTHING';
  const stored = rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([column, value]) => [column, toValue(value)])),
  );
  const rest = `ON CONFLICT (${KEYS[table]}) DO ${action} RETURNING ${KEYS[table]}`;
  return insert(`tailrace_alert_${table}`, stored, rest);
}

function toValue(value: unknown): string | number {
  return typeof value === 'number' ? value : String(value);
}
