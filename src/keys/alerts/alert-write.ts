import type { Statement } from '../database.ts';
import type { AlertPoint, HistoryEntry, StoredMessage } from './alert-record.ts';

export interface Transaction {
  readonly condition: Statement;
  readonly statements: readonly Statement[];
  /** `false`: a loss of power may undo it, so it need not wait for the disk. */
  readonly isDurable: boolean;
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
  /** What the evaluation saw; points of other measures are replaced. */
  readonly point?: (AlertPoint & { readonly measure: string }) | undefined;
  /** ms since the epoch. */
  readonly atMs: number;
  /** Whether it must survive a loss of power; it always survives the end of a process. */
  readonly isDurable: boolean;
}

/** Returns the statements that write an evaluation, for one transaction. */
export function toStatements({
  alert,
  state,
  point,
  ...written
}: Omit<AlertWrite, 'fence' | 'isDurable'>): Statement[] {
  const { history, messages, atMs } = written;
  const gone = ['states', 'points'].map((table) => ({
    text: `DELETE FROM tailrace_alert_${table} WHERE alert = $1`,
    values: [alert],
  }));
  const stored = {
    text: `INSERT INTO tailrace_alert_states (alert, state) VALUES ($1, $2)
      ON CONFLICT (alert) DO UPDATE SET state = excluded.state`,
    values: [alert, state ?? ''],
  };
  return [
    ...(state === undefined ? gone : [stored]),
    ...(point === undefined ? [] : [addPoint(alert, point)]),
    ...addEntries(alert, history),
    ...messages.map((message) => addMessage(message, atMs)),
  ];
}

const POINT_MS = 300_000;
const POINTS_MAX = 86_400_000 / POINT_MS;

/** Widens the point of the same five minutes, or replaces an older one. */
function addPoint(alert: string, { measure, atMs, low, high }: NonNullable<AlertWrite['point']>): Statement {
  const table = 'tailrace_alert_points';
  const isSame = `${table}.measure = excluded.measure AND ${table}.at_ms / ${POINT_MS} = excluded.at_ms / ${POINT_MS}`;
  return {
    text: `INSERT INTO ${table} (alert, slot, measure, at_ms, low, high) VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (alert, slot) DO UPDATE SET measure = excluded.measure, at_ms = excluded.at_ms,
        low = CASE WHEN ${isSame} AND ${table}.low < excluded.low THEN ${table}.low ELSE excluded.low END,
        high = CASE WHEN ${isSame} AND ${table}.high > excluded.high THEN ${table}.high ELSE excluded.high END`,
    values: [alert, Math.floor(atMs / POINT_MS) % POINTS_MAX, measure, atMs, low, high],
  };
}

export function addMessage(
  { id, receiver, message }: AlertWrite['messages'][number],
  atMs: number,
): Statement {
  return {
    text: `INSERT INTO tailrace_alert_outbox (id, receiver, message, tries, first_ms, due_ms)
      VALUES ($1, $2, $3, 0, $4, 0)`,
    values: [id, receiver, message, atMs],
  };
}

const HISTORY_MAX = 1_000; // of each alert

/** Adds to the history of an alert, and deletes what is beyond its bound: labels that change each second would add millions of rows a day. */
export function addEntries(alert: string, entries: readonly HistoryEntry[]): Statement[] {
  if (entries.length === 0) return [];
  const excess = {
    text: `DELETE FROM tailrace_alert_history WHERE alert = $1 AND id <=
      (SELECT id FROM tailrace_alert_history WHERE alert = $1 ORDER BY id DESC LIMIT 1 OFFSET ${HISTORY_MAX})`,
    values: [alert],
  };
  return [...entries.map((entry) => addEntry(alert, entry)), excess];
}

export function addEntry(alert: string, { id, atMs, entry }: HistoryEntry): Statement {
  return {
    text: 'INSERT INTO tailrace_alert_history (id, alert, at_ms, entry) VALUES ($1, $2, $3, $4)',
    values: [id, alert, atMs, entry],
  };
}
