import {
  type HistoryEntry,
  type Row,
  readMessage,
  readSilence,
  type Silence,
  type StoredMessage,
} from './alert-record.ts';

/** A statement with `$1`, `$2`, … for its values. */
export interface Statement {
  readonly text: string;
  readonly values: readonly (string | number | null)[];
}

/** What the store needs of a database; both have the tables and the SQL of this file. */
export interface AlertDatabase {
  /** SQL of the database's own clock, ms since the epoch: leases of several processes are compared by one clock. */
  readonly nowMs: string;
  run(statement: Statement): Promise<Row[]>;
  /** Runs all in one transaction, or nothing if the first returns no row. @returns whether it returned one */
  runIf(condition: Statement, statements: readonly Statement[]): Promise<boolean>;
}

/** The writes of one evaluation: all of them, or none. */
export interface AlertWrite {
  /** The number of the lease: if another process has taken it meanwhile, nothing is written. */
  readonly fence: number;
  readonly alert: string;
  /** JSON; `undefined`: the alert is gone. */
  readonly state: string | undefined;
  readonly history: readonly HistoryEntry[];
  readonly messages: readonly Pick<StoredMessage, 'id' | 'receiver' | 'message'>[];
  /** ms since the epoch. */
  readonly atMs: number;
}

/** States, history, silences and outgoing messages of alerts, in the control store. It fails as the control store does. */
export interface AlertStore {
  /** Takes or renews the right to evaluate. @returns its fencing number; `undefined` while another process holds it */
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
  /** Deletes what is older than the bound, and what is beyond the bounds on numbers. */
  trim(beforeMs: number): Promise<void>;
  /** Those that have not ended at an instant. */
  listSilences(atMs: number): Promise<Silence[]>;
  /** @returns whether it was stored: there are at most `SILENCES_MAX` */
  addSilence(silence: Silence): Promise<boolean>;
  /** Adds a message that is of no evaluation. */
  addMessage(message: AlertWrite['messages'][number], atMs: number): Promise<void>;
  /** @returns the oldest message of a receiver that is due */
  nextMessage(receiver: string, atMs: number): Promise<StoredMessage | undefined>;
  removeMessage(id: string): Promise<void>;
  postponeMessage(id: string, dueMs: number): Promise<void>;
  /** Replaces a message by an entry of the history. */
  dropMessage(id: string, alert: string, entry: HistoryEntry): Promise<void>;
}

const SILENCES_MAX = 1_000;
// In every collation, since ids are hexadecimal.
const AFTER_EVERY_ID = 'z';
const HISTORY_MAX = 1_000; // of each alert
// A receiver that is down for a day gets one message per evaluation at most.
const MESSAGES_MAX = 10_000;

/** Creates the store over a control store's database. */
export function createAlertStore({ nowMs, run, runIf }: AlertDatabase): AlertStore {
  const runAll = (text: string, ...values: Statement['values']) => run({ text, values });
  return {
    async lease(owner, lifeMs) {
      // A lease with a longer life was written before the database's clock was set back, and is ignored.
      const [row] = await runAll(
        `UPDATE tailrace_alert_lease SET fence = CASE WHEN owner = $1 THEN fence ELSE fence + 1 END, owner = $1,
            until_ms = ${nowMs} + CAST($2 AS bigint)
          WHERE owner = $1 OR until_ms <= ${nowMs} OR until_ms > ${nowMs} + CAST($2 AS bigint) RETURNING fence`,
        owner,
        lifeMs,
      );
      return row === undefined ? undefined : Number(row['fence']);
    },
    release: async (owner) =>
      void (await runAll('UPDATE tailrace_alert_lease SET until_ms = 0 WHERE owner = $1', owner)),
    async readStates() {
      const rows = await runAll('SELECT alert, state FROM tailrace_alert_states');
      return new Map(rows.map(({ alert, state }) => [String(alert), String(state)]));
    },
    write: ({ fence, ...written }) =>
      runIf(
        // Locks the row, so that no other process takes the lease before this is committed.
        {
          text: 'UPDATE tailrace_alert_lease SET writes = writes + 1 WHERE fence = $1 RETURNING fence',
          values: [fence],
        },
        toStatements(written),
      ),
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
          WHERE (SELECT count(*) FROM tailrace_alert_silences) < ${SILENCES_MAX} RETURNING id`,
        ...[id, alert, labels, untilMs, comment, author, createdMs],
      );
      return rows.length > 0;
    },
    addMessage: async (message, atMs) => void (await run(addMessage(message, atMs))),
    async nextMessage(receiver, atMs) {
      const [row] = await runAll(
        `SELECT * FROM tailrace_alert_outbox WHERE receiver = $1 AND due_ms <= $2 ORDER BY id LIMIT 1`,
        receiver,
        atMs,
      );
      return row === undefined ? undefined : readMessage(row);
    },
    removeMessage: async (id) => void (await runAll('DELETE FROM tailrace_alert_outbox WHERE id = $1', id)),
    postponeMessage: async (id, dueMs) =>
      void (await runAll(
        'UPDATE tailrace_alert_outbox SET tries = tries + 1, due_ms = $2 WHERE id = $1',
        id,
        dueMs,
      )),
    dropMessage: async (id, alert, entry) =>
      void (await runIf(
        { text: 'DELETE FROM tailrace_alert_outbox WHERE id = $1 RETURNING id', values: [id] },
        [addEntry(alert, entry)],
      )),
  };
}

function toStatements({ alert, state, history, messages, atMs }: Omit<AlertWrite, 'fence'>): Statement[] {
  const stored =
    state === undefined
      ? { text: 'DELETE FROM tailrace_alert_states WHERE alert = $1', values: [alert] }
      : {
          text: `INSERT INTO tailrace_alert_states (alert, state) VALUES ($1, $2)
            ON CONFLICT (alert) DO UPDATE SET state = excluded.state`,
          values: [alert, state],
        };
  return [
    stored,
    ...history.map((entry) => addEntry(alert, entry)),
    ...messages.map((message) => addMessage(message, atMs)),
  ];
}

function addMessage({ id, receiver, message }: AlertWrite['messages'][number], atMs: number): Statement {
  return {
    text: `INSERT INTO tailrace_alert_outbox (id, receiver, message, tries, first_ms, due_ms)
      VALUES ($1, $2, $3, 0, $4, 0)`,
    values: [id, receiver, message, atMs],
  };
}

function addEntry(alert: string, { id, atMs, entry }: HistoryEntry): Statement {
  return {
    text: 'INSERT INTO tailrace_alert_history (id, alert, at_ms, entry) VALUES ($1, $2, $3, $4)',
    values: [id, alert, atMs, entry],
  };
}

type RunAll = (text: string, ...values: Statement['values']) => Promise<Row[]>;

async function trim(run: RunAll, beforeMs: number): Promise<void> {
  await run('DELETE FROM tailrace_alert_history WHERE at_ms < $1', beforeMs);
  await run('DELETE FROM tailrace_alert_silences WHERE until_ms < $1', beforeMs);
  const crowded = [
    ['history', 'alert', HISTORY_MAX],
    ['outbox', 'receiver', MESSAGES_MAX],
  ] as const;
  for (const [table, column, max] of crowded) {
    const groups = await run(
      `SELECT ${column} AS name FROM tailrace_alert_${table} GROUP BY ${column} HAVING count(*) > ${max}`,
    );
    for (const { name } of groups)
      await run(
        `DELETE FROM tailrace_alert_${table} WHERE ${column} = $1 AND id <=
          (SELECT id FROM tailrace_alert_${table} WHERE ${column} = $1 ORDER BY id DESC LIMIT 1 OFFSET ${max})`,
        String(name),
      );
  }
}
