import { type ControlDatabase, createExecute, type Execute, insert, type Statement } from '../database.ts';
import {
  type AlertPoint,
  type AlertWrite,
  addMessage,
  type EndedMessage,
  endMessage,
  type HistoryEntry,
  MESSAGE,
  type NewMessage,
  type Queued,
  SILENCE,
  type Silence,
  type StoredMessage,
  toStatements,
} from './alert-record.ts';

/** States, history, silences and outgoing messages of alerts, in the control store. It fails as the control store does. */
export type AlertStore = ReturnType<typeof createAlertStore>;

/** Creates the store over a control store's database. */
export function createAlertStore(database: Pick<ControlDatabase, 'nowMs' | 'run' | 'transact'>) {
  const execute = createExecute(database);
  /** Writes all in one transaction, or nothing if the condition returns no row. @returns whether it returned one */
  const writeIf = (condition: Statement, statements: readonly Statement[], isDurable = true) =>
    database.transact(
      [condition],
      ([found = []]) => ({ statements: found.length > 0 ? statements : [], result: found.length > 0 }),
      { isDurable },
    );
  return {
    ...createEvaluations(database.nowMs, execute, writeIf),
    ...createSilences(execute),
    ...createMessages(execute, writeIf),
    ...createCopies(execute, database.run),
  };
}

type WriteIf = (
  condition: Statement,
  statements: readonly Statement[],
  isDurable?: boolean,
) => Promise<boolean>;

// Replicas that read a new file at different moments give the lease different lives.
const LEASE_MS_MAX = 60_000;
// In every collation, since ids are hexadecimal.
const AFTER_EVERY_ID = 'z';
const LOCK_SQL = 'UPDATE tailrace_alert_lease SET writes = writes + 1 WHERE fence = $1 RETURNING fence';

function createEvaluations(nowMs: string, execute: Execute, writeIf: WriteIf) {
  return {
    /**
     * Takes or renews the right to evaluate.
     *
     * @param lifeMs at most `LEASE_MS_MAX`
     * @returns its fencing number; `undefined` while another process holds it
     */
    async lease(owner: string, lifeMs: number): Promise<number | undefined> {
      // A lease that ends later was written before the database's clock was set back, and is ignored.
      const text = `UPDATE tailrace_alert_lease SET fence = CASE WHEN owner = $1 THEN fence ELSE fence + 1 END,
          owner = $1, until_ms = ${nowMs} + CAST($2 AS bigint)
        WHERE owner = $1 OR until_ms <= ${nowMs} OR until_ms > ${nowMs} + ${LEASE_MS_MAX} RETURNING fence`;
      return (await execute<{ fence: number }>(text, owner, lifeMs))[0]?.fence;
    },

    async release(owner: string): Promise<void> {
      await execute('UPDATE tailrace_alert_lease SET until_ms = 0 WHERE owner = $1', owner);
    },

    /** JSON of each state, by the id of its alert. */
    async readStates(): Promise<ReadonlyMap<string, string>> {
      const text = 'SELECT alert, state FROM tailrace_alert_states';
      const rows = await execute<{ alert: string; state: string }>(text);
      return new Map(rows.map(({ alert, state }) => [alert, state]));
    },

    /** @returns whether the lease was still held, so that all was written */
    write: ({ fence, isDurable, ...written }: AlertWrite): Promise<boolean> =>
      // Locks the row, so that no other process takes the lease before this is committed.
      writeIf({ text: LOCK_SQL, values: [fence] }, toStatements(written), isDurable),

    /** Newest first. @param page `before`: id of the last entry of the previous page */
    listHistory(
      alert: string,
      { limit, before = AFTER_EVERY_ID }: { readonly limit: number; readonly before?: string | undefined },
    ): Promise<HistoryEntry[]> {
      const text = `SELECT id, at_ms AS "atMs", entry FROM tailrace_alert_history WHERE alert = $1 AND id < $2
        ORDER BY id DESC LIMIT $3`;
      return execute(text, alert, before, limit);
    },

    /** Oldest first; both ends included. */
    listPoints(
      alert: string,
      range: { readonly measure: string; readonly fromMs: number; readonly untilMs: number },
    ): Promise<AlertPoint[]> {
      const text = `SELECT at_ms AS "atMs", low, high FROM tailrace_alert_points
        WHERE alert = $1 AND measure = $2 AND at_ms BETWEEN $3 AND $4 ORDER BY at_ms`;
      return execute(text, alert, range.measure, range.fromMs, range.untilMs);
    },

    /** Deletes entries of the history and silences that are older than the bound. */
    async trim(beforeMs: number): Promise<void> {
      await execute('DELETE FROM tailrace_alert_history WHERE at_ms < $1', beforeMs);
      await execute('DELETE FROM tailrace_alert_silences WHERE until_ms < $1', beforeMs);
    },
  };
}

const SILENCES_MAX = 1_000;

function createSilences(execute: Execute) {
  return {
    /** Those that have not ended at an instant. */
    listSilences: (atMs: number) =>
      execute<Silence>(`SELECT ${SILENCE} FROM tailrace_alert_silences WHERE until_ms > $1`, atMs),

    /** @returns whether it was stored: at most `SILENCES_MAX` have not ended when it is created */
    async addSilence({ id, alert, labels, untilMs, comment, author, createdMs }: Silence): Promise<boolean> {
      const text = `INSERT INTO tailrace_alert_silences (id, alert, labels, until_ms, comment, author, created_ms)
        SELECT $1, $2, $3, CAST($4 AS bigint), $5, $6, CAST($7 AS bigint)
        WHERE (SELECT count(*) FROM tailrace_alert_silences WHERE until_ms > CAST($7 AS bigint)) < ${SILENCES_MAX}
        RETURNING id`;
      return (await execute(text, id, alert, labels, untilMs, comment, author, createdMs)).length > 0;
    },

    /** @returns the silence that was removed; `undefined`: the alert has none of this id */
    async removeSilence(alert: string, id: string): Promise<Silence | undefined> {
      const text = `DELETE FROM tailrace_alert_silences WHERE alert = $1 AND id = $2 RETURNING ${SILENCE}`;
      return (await execute<Silence>(text, alert, id))[0];
    },
  };
}

// Twice the longest wait for a receiver. Messages that are due later were postponed before the clock was set back.
const DUE_MS_MAX = 7_200_000;

function createMessages(execute: Execute, writeIf: WriteIf) {
  return {
    /** Adds a message that is of no evaluation. */
    async addMessage(message: NewMessage, atMs: number): Promise<void> {
      const { text, values } = addMessage(message, atMs);
      await execute(text, ...values);
    },

    /** @returns the oldest message of a receiver that is due */
    async nextMessage(receiver: string, atMs: number): Promise<StoredMessage | undefined> {
      const text = `SELECT ${MESSAGE} FROM tailrace_alert_outbox
        WHERE receiver = $1 AND (due_ms <= $2 OR due_ms > CAST($2 AS bigint) + ${DUE_MS_MAX}) ORDER BY id LIMIT 1`;
      return (await execute<StoredMessage>(text, receiver, atMs))[0];
    },

    /** Lists what waits of an alert for a receiver, oldest first. */
    listMessages(receiver: string, alert: string): Promise<StoredMessage[]> {
      const text = `SELECT ${MESSAGE} FROM tailrace_alert_outbox WHERE receiver = $1 AND alert = $2 ORDER BY id`;
      return execute(text, receiver, alert);
    },

    /** Counts the messages of each receiver that has any. */
    readOutbox: () =>
      execute<Queued>(`SELECT receiver, count(*) AS messages, min(first_ms) AS "oldestMs"
        FROM tailrace_alert_outbox GROUP BY receiver`),

    async postponeMessage(id: string, dueMs: number, reason: string): Promise<void> {
      const text = `UPDATE tailrace_alert_outbox SET tries = tries + 1, due_ms = $2, reason = $3 WHERE id = $1`;
      await execute(text, id, dueMs, reason);
    },

    /** Replaces a message by an entry of the history, unless that was done. */
    async endMessage(ended: EndedMessage): Promise<void> {
      const text = 'DELETE FROM tailrace_alert_outbox WHERE id = $1 RETURNING id';
      await writeIf({ text, values: [ended.id] }, endMessage(ended));
    },
  };
}

/** The tables that are copied, and their keys. The lease stays, and points, which a day replaces. */
const COPIED = { states: 'alert', history: 'id', silences: 'id', outbox: 'id' };
// Rows of one statement, which has at most eight values of each.
const BATCH = 100;

function createCopies(execute: Execute, run: ControlDatabase['run']) {
  /** Rows as they are stored, after a key and in the order of keys; for `copyFrom`. */
  function readRows(table: string, key: string, after: string) {
    const text = `SELECT * FROM ${table} WHERE ${key} > $1 ORDER BY ${key} LIMIT ${BATCH}`;
    return execute<Record<string, string | number>>(text, after);
  }

  return {
    readRows,
    /** Adds the states, history, silences and messages of another store that this one lacks. @returns how many */
    async copyFrom(other: { readonly readRows: typeof readRows }): Promise<number> {
      let count = 0;
      for (const [name, key] of Object.entries(COPIED)) {
        const table = `tailrace_alert_${name}`;
        const rest = `ON CONFLICT (${key}) DO NOTHING RETURNING ${key}`;
        for (let rows = await other.readRows(table, key, ''); rows.length > 0; ) {
          count += (await run(insert(table, rows, rest))).length;
          rows = await other.readRows(table, key, String(rows.at(-1)?.[key]));
        }
      }
      return count;
    },
  };
}
