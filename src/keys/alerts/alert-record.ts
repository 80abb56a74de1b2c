import { insert, type Row, type Statement } from '../database.ts';

export interface HistoryEntry {
  /** Ascending with the time at which it was written. */
  readonly id: string;
  /** ms since the epoch: the tick of the evaluation. */
  readonly atMs: number;
  /** JSON. */
  readonly entry: string;
}

/** Instead of the id of an alert: the silence is of every alert. */
export const EVERY_ALERT = '';

export interface Silence {
  readonly id: string;
  /** Id of the alert, or `EVERY_ALERT`. */
  readonly alert: string;
  /** JSON of the labels that an instance has to have; `{}`: all instances. */
  readonly labels: string;
  readonly untilMs: number;
  readonly comment: string;
  /** Id of the key, or `cli`. */
  readonly author: string;
  readonly createdMs: number;
}

/** The least and the greatest value that evaluations saw in five minutes. */
export interface AlertPoint {
  /** ms since the epoch: the last of their ticks. */
  readonly atMs: number;
  readonly low: number;
  readonly high: number;
}

/** A message that has not been delivered. Times are ms since the epoch. */
export interface StoredMessage {
  readonly id: string;
  readonly receiver: string;
  /** JSON. */
  readonly message: string;
  readonly tries: number;
  readonly firstMs: number;
  /** Why the last try failed; empty: there was none. */
  readonly reason: string;
}

/** Reads a row of the table of silences. */
export function readSilence(row: Row): Silence {
  return {
    id: String(row['id']),
    alert: String(row['alert']),
    labels: String(row['labels']),
    untilMs: Number(row['until_ms']),
    comment: String(row['comment']),
    author: String(row['author']),
    createdMs: Number(row['created_ms']),
  };
}

/** Reads a row of the outbox. */
export function readMessage(row: Row): StoredMessage {
  return {
    id: String(row['id']),
    receiver: String(row['receiver']),
    message: String(row['message']),
    tries: Number(row['tries']),
    firstMs: Number(row['first_ms']),
    reason: String(row['reason']),
  };
}

/** Reads a row of the table of points. */
export function readPoint(row: Row): AlertPoint {
  return { atMs: Number(row['at_ms']), low: Number(row['low']), high: Number(row['high']) };
}

/** The messages of a receiver that are not yet sent. */
export interface Queued {
  readonly receiver: string;
  readonly messages: number;
  /** ms since the epoch, when the first of them was stored. */
  readonly oldestMs: number;
}

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

export function addMessage(message: AlertWrite['messages'][number], atMs: number): Statement {
  const { id, receiver, message: text } = message;
  return insert('tailrace_alert_outbox', [
    { id, receiver, message: text, tries: 0, first_ms: atMs, due_ms: 0, reason: '' },
  ]);
}

const HISTORY_MAX = 1_000; // of each alert

/**
 * Adds to the history of an alert, and deletes what is beyond its bound: labels that change each second would add
 * millions of rows a day.
 */
export function addEntries(alert: string, entries: readonly HistoryEntry[]): Statement[] {
  if (entries.length === 0) return [];
  const excess = {
    text: `DELETE FROM tailrace_alert_history WHERE alert = $1 AND id <=
      (SELECT id FROM tailrace_alert_history WHERE alert = $1 ORDER BY id DESC LIMIT 1 OFFSET ${HISTORY_MAX})`,
    values: [alert],
  };
  return [...entries.map((entry) => addEntry(alert, entry)), excess];
}

export function addEntry(alert: string, { id, atMs, entry }: HistoryEntry, rest?: string): Statement {
  return insert('tailrace_alert_history', [{ id, alert, at_ms: atMs, entry }], rest);
}
