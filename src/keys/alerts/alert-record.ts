import { insert, type Row, type Statement } from '../database.ts';

export interface HistoryEntry {
  /** Ascending with the time at which it was written. */
  readonly id: string;
  /** ms since the epoch: the tick of the evaluation. */
  readonly atMs: number;
  /** JSON. */
  readonly entry: string;
}

/** Reads a row of the table of silences. */
export function readSilence(row: Row) {
  return {
    id: String(row['id']),
    /** Id of the alert. */
    alert: String(row['alert']),
    /** JSON of the labels that an instance has to have; `{}`: all instances. */
    labels: String(row['labels']),
    untilMs: Number(row['until_ms']),
    comment: String(row['comment']),
    /** Id of the key or person. */
    author: String(row['author']),
    createdMs: Number(row['created_ms']),
  };
}
export type Silence = Readonly<ReturnType<typeof readSilence>>;

/** Reads a row of the outbox: a message that has not been delivered. */
export function readMessage(row: Row) {
  return {
    id: String(row['id']),
    /** Id of the alert. */
    alert: String(row['alert']),
    receiver: String(row['receiver']),
    /** JSON. */
    message: String(row['message']),
    tries: Number(row['tries']),
    /** ms since the epoch. */
    firstMs: Number(row['first_ms']),
    /** Why the last try failed; empty: there was none. */
    reason: String(row['reason']),
  };
}
export type StoredMessage = Readonly<ReturnType<typeof readMessage>>;

/** Reads a row of the table of points: the least and the greatest value that evaluations saw in five minutes. */
export function readPoint(row: Row) {
  // `atMs`: the last of their ticks, ms since the epoch.
  return { atMs: Number(row['at_ms']), low: Number(row['low']), high: Number(row['high']) };
}
export type AlertPoint = Readonly<ReturnType<typeof readPoint>>;

/** The messages of a receiver that are not yet sent. */
export interface Queued {
  readonly receiver: string;
  readonly messages: number;
  /** ms since the epoch, when the first of them was stored. */
  readonly oldestMs: number;
}

/** The end of a message in the outbox: it was delivered, or given up. */
export interface EndedMessage {
  readonly id: string;
  readonly alert: string;
  /** What the history says of it. */
  readonly entry: HistoryEntry;
  /** What is left of other messages; empty: nothing. */
  readonly changed: readonly Pick<StoredMessage, 'id' | 'message'>[];
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
export function toStatements(written: Omit<AlertWrite, 'fence' | 'isDurable'>): Statement[] {
  const { alert, state, point, history, messages, atMs } = written;
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
    ...messages.map((message) => addMessage({ alert, ...message }, atMs)),
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

export type NewMessage = Pick<StoredMessage, 'id' | 'alert' | 'receiver' | 'message'>;

export function addMessage({ id, alert, receiver, message }: NewMessage, atMs: number): Statement {
  return insert('tailrace_alert_outbox', [
    { id, alert, receiver, message, tries: 0, first_ms: atMs, due_ms: 0, reason: '' },
  ]);
}

export function endMessage({ alert, entry, changed }: EndedMessage): Statement[] {
  return [
    ...addEntries(alert, [entry]),
    ...changed.map(({ id, message }) =>
      message === ''
        ? { text: 'DELETE FROM tailrace_alert_outbox WHERE id = $1', values: [id] }
        : { text: 'UPDATE tailrace_alert_outbox SET message = $2 WHERE id = $1', values: [id, message] },
    ),
  ];
}

const HISTORY_MAX = 1_000; // of each alert

/**
 * Adds to the history of an alert, and deletes what is beyond its bound: labels that change each second would add
 * millions of rows a day.
 */
function addEntries(alert: string, entries: readonly HistoryEntry[]): Statement[] {
  if (entries.length === 0) return [];
  const excess = {
    text: `DELETE FROM tailrace_alert_history WHERE alert = $1 AND id <=
      (SELECT id FROM tailrace_alert_history WHERE alert = $1 ORDER BY id DESC LIMIT 1 OFFSET ${HISTORY_MAX})`,
    values: [alert],
  };
  const added = entries.map(({ id, atMs, entry }) =>
    insert('tailrace_alert_history', [{ id, alert, at_ms: atMs, entry }]),
  );
  return [...added, excess];
}
