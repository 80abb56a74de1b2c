import type { ControlDatabase, Row, Statement } from '../database.ts';
import {
  type AlertPoint,
  type AlertWrite,
  addEntries,
  addMessage,
  type HistoryEntry,
  type Queued,
  readMessage,
  readPoint,
  readSilence,
  type Silence,
  type StoredMessage,
  type Transaction,
  toStatements,
} from './alert-record.ts';
import { createRowStore, type RowStore } from './row-store.ts';

/** States, history, silences and outgoing messages of alerts, in the control store. It fails as the control store does. */
export interface AlertStore extends RowStore {
  /**
   * Takes or renews the right to evaluate.
   *
   * @param lifeMs at most `LEASE_MS_MAX`
   * @returns its fencing number; `undefined` while another process holds it
   */
  lease(owner: string, lifeMs: number): Promise<number | undefined>;
  release(owner: string): Promise<void>;
  /** JSON of each state, by the id of its alert. */
  readStates(): Promise<ReadonlyMap<string, string>>;
  /** @returns whether the lease was still held, so that all was written */
  write(write: AlertWrite): Promise<boolean>;
  /** Newest first. @param page `before`: id of the last entry of the previous page */
  listHistory(
    alert: string,
    page: { readonly limit: number; readonly before?: string | undefined },
  ): Promise<HistoryEntry[]>;
  /** Deletes entries of the history and silences that are older than the bound. */
  trim(beforeMs: number): Promise<void>;
  /** Those that have not ended at an instant. */
  listSilences(atMs: number): Promise<Silence[]>;
  /** @returns whether it was stored: at most `SILENCES_MAX` have not ended when it is created */
  addSilence(silence: Silence): Promise<boolean>;
  /** @returns the silence that was removed; `undefined`: the alert has none of this id */
  removeSilence(alert: string, id: string): Promise<Silence | undefined>;
  /** Oldest first; both ends included. */
  listPoints(
    alert: string,
    range: { readonly measure: string; readonly fromMs: number; readonly untilMs: number },
  ): Promise<AlertPoint[]>;
  /** Adds a message that is of no evaluation. */
  addMessage(message: AlertWrite['messages'][number], atMs: number): Promise<void>;
  /** @returns the oldest message of a receiver that is due */
  nextMessage(receiver: string, atMs: number): Promise<StoredMessage | undefined>;
  /** @returns the message unless it has been removed */
  findMessage(id: string): Promise<StoredMessage | undefined>;
  /** Counts the messages of each receiver that has any. */
  readOutbox(): Promise<readonly Queued[]>;
  removeMessage(id: string): Promise<void>;
  postponeMessage(id: string, due: { readonly dueMs: number; readonly reason: string }): Promise<void>;
  /** Replaces a message by an entry of the history. */
  dropMessage(id: string, alert: string, entry: HistoryEntry): Promise<void>;
}

// Replicas that read a new file at different moments give the lease different lives.
const LEASE_MS_MAX = 60_000;
const SILENCES_MAX = 1_000;
// In every collation, since ids are hexadecimal.
const AFTER_EVERY_ID = 'z';
// Twice the longest wait for a receiver. Messages that are due later were postponed before the clock was set back.
const DUE_MS_MAX = 7_200_000;

const LOCK_SQL = 'UPDATE tailrace_alert_lease SET writes = writes + 1 WHERE fence = $1 RETURNING fence';

/** Creates the store over a control store's database. */
export function createAlertStore({ nowMs, run, transact }: ControlDatabase): AlertStore {
  const runIf: RunIf = ({ condition, statements, isDurable }) =>
    transact(
      [condition],
      ([found = []]) => ({ statements: found.length > 0 ? statements : [], result: found.length > 0 }),
      { isDurable },
    );
  const runAll = (text: string, ...values: Statement['values']) => run({ text, values });
  return {
    async lease(owner, lifeMs) {
      // A lease that ends later was written before the database's clock was set back, and is ignored.
      const [row] = await runAll(
        `UPDATE tailrace_alert_lease SET fence = CASE WHEN owner = $1 THEN fence ELSE fence + 1 END, owner = $1,
            until_ms = ${nowMs} + CAST($2 AS bigint)
          WHERE owner = $1 OR until_ms <= ${nowMs} OR until_ms > ${nowMs} + ${LEASE_MS_MAX} RETURNING fence`,
        owner,
        lifeMs,
      );
      return row === undefined ? undefined : Number(row['fence']);
    },
    release: async (owner) =>
      void (await runAll('UPDATE tailrace_alert_lease SET until_ms = 0 WHERE owner = $1', owner)),
    readStates: () => readStates(runAll),
    write: ({ fence, isDurable, ...written }) =>
      runIf({
        // Locks the row, so that no other process takes the lease before this is committed.
        condition: { text: LOCK_SQL, values: [fence] },
        statements: toStatements(written),
        isDurable,
      }),
    async listHistory(alert, { limit, before = AFTER_EVERY_ID }) {
      const rows = await runAll(
        `SELECT id, at_ms, entry FROM tailrace_alert_history WHERE alert = $1 AND id < $2
          ORDER BY id DESC LIMIT $3`,
        alert,
        before,
        limit,
      );
      return rows.map((row) => ({
        id: String(row['id']),
        atMs: Number(row['at_ms']),
        entry: String(row['entry']),
      }));
    },
    trim: (beforeMs) => trim(runAll, beforeMs),
    async listSilences(atMs) {
      const rows = await runAll('SELECT * FROM tailrace_alert_silences WHERE until_ms > $1', atMs);
      return rows.map(readSilence);
    },
    async addSilence({ id, alert, labels, untilMs, comment, author, createdMs }) {
      const rows = await runAll(
        `INSERT INTO tailrace_alert_silences (id, alert, labels, until_ms, comment, author, created_ms)
          SELECT $1, $2, $3, CAST($4 AS bigint), $5, $6, CAST($7 AS bigint)
          WHERE (SELECT count(*) FROM tailrace_alert_silences WHERE until_ms > CAST($7 AS bigint)) < ${SILENCES_MAX}
          RETURNING id`,
        ...[id, alert, labels, untilMs, comment, author, createdMs],
      );
      return rows.length > 0;
    },
    async removeSilence(alert, id) {
      const [row] = await runAll(
        'DELETE FROM tailrace_alert_silences WHERE alert = $1 AND id = $2 RETURNING *',
        alert,
        id,
      );
      return row === undefined ? undefined : readSilence(row);
    },
    async listPoints(alert, { measure, fromMs, untilMs }) {
      const rows = await runAll(
        `SELECT at_ms, low, high FROM tailrace_alert_points
          WHERE alert = $1 AND measure = $2 AND at_ms BETWEEN $3 AND $4 ORDER BY at_ms`,
        ...[alert, measure, fromMs, untilMs],
      );
      return rows.map(readPoint);
    },
    ...createMessages({ runAll, run, runIf }),
    ...createRowStore({ run, runIf }),
  };
}

/** Runs all in one transaction, or nothing if the condition returns no row. @returns whether it returned one */
type RunIf = (transaction: Transaction) => Promise<boolean>;

type RunAll = (text: string, ...values: Statement['values']) => Promise<Row[]>;

type Messages = Pick<
  AlertStore,
  | 'addMessage'
  | 'nextMessage'
  | 'readOutbox'
  | 'findMessage'
  | 'removeMessage'
  | 'postponeMessage'
  | 'dropMessage'
>;

/** The outgoing messages. */
function createMessages({
  runAll,
  run,
  runIf,
}: Pick<ControlDatabase, 'run'> & { readonly runIf: RunIf; readonly runAll: RunAll }): Messages {
  return {
    addMessage: async (message, atMs) => void (await run(addMessage(message, atMs))),
    async nextMessage(receiver, atMs) {
      const [row] = await runAll(
        `SELECT * FROM tailrace_alert_outbox
          WHERE receiver = $1 AND (due_ms <= $2 OR due_ms > CAST($2 AS bigint) + ${DUE_MS_MAX}) ORDER BY id LIMIT 1`,
        receiver,
        atMs,
      );
      return row === undefined ? undefined : readMessage(row);
    },
    async findMessage(id) {
      const [row] = await runAll('SELECT * FROM tailrace_alert_outbox WHERE id = $1', id);
      return row === undefined ? undefined : readMessage(row);
    },
    readOutbox: () => readOutbox(runAll),
    removeMessage: async (id) => void (await runAll('DELETE FROM tailrace_alert_outbox WHERE id = $1', id)),
    postponeMessage: async (id, { dueMs, reason }) =>
      void (await runAll(
        'UPDATE tailrace_alert_outbox SET tries = tries + 1, due_ms = $2, reason = $3 WHERE id = $1',
        id,
        dueMs,
        reason,
      )),
    dropMessage: async (id, alert, entry) =>
      void (await runIf({
        condition: { text: 'DELETE FROM tailrace_alert_outbox WHERE id = $1 RETURNING id', values: [id] },
        statements: addEntries(alert, [entry]),
        isDurable: true,
      })),
  };
}

async function readStates(run: RunAll): Promise<ReadonlyMap<string, string>> {
  const rows = await run('SELECT alert, state FROM tailrace_alert_states');
  return new Map(rows.map(({ alert, state }) => [String(alert), String(state)]));
}

async function readOutbox(run: RunAll): Promise<Queued[]> {
  const rows = await run(
    'SELECT receiver, count(*) AS messages, min(first_ms) AS first FROM tailrace_alert_outbox GROUP BY receiver',
  );
  return rows.map(({ receiver, messages, first }) => ({
    receiver: String(receiver),
    messages: Number(messages),
    oldestMs: Number(first),
  }));
}

async function trim(run: RunAll, beforeMs: number): Promise<void> {
  await run('DELETE FROM tailrace_alert_history WHERE at_ms < $1', beforeMs);
  await run('DELETE FROM tailrace_alert_silences WHERE until_ms < $1', beforeMs);
}
