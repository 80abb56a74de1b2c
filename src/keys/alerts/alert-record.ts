import { insert, type Statement } from '../database.ts';

// All times are ms since the epoch. SILENCE and MESSAGE are the columns of their types.

export interface HistoryEntry {
  /** Ascending with the time at which it was written. */
  readonly id: string;
  /** The tick of the evaluation. */
  readonly atMs: number;
  /** JSON. */
  readonly entry: string;
}

export interface Silence {
  readonly id: string;
  /** Id of the alert. */
  readonly alert: string;
  /** JSON of the labels that an instance has to have; `{}`: all instances. */
  readonly labels: string;
  readonly untilMs: number;
  readonly comment: string;
  /** Id of the key or person. */
  readonly author: string;
  readonly createdMs: number;
}
export const SILENCE = 'id, alert, labels, until_ms AS "untilMs", comment, author, created_ms AS "createdMs"';

/** A message of the outbox that has not been delivered. */
export interface StoredMessage {
  readonly id: string;
  /** Id of the alert. */
  readonly alert: string;
  readonly receiver: string;
  /** JSON. */
  readonly message: string;
  readonly tries: number;
  readonly firstMs: number;
  /** Why the last try failed; empty: there was none. */
  readonly reason: string;
}
export const MESSAGE = 'id, alert, receiver, message, tries, first_ms AS "firstMs", reason';

/** The least and the greatest value that evaluations saw in five minutes. */
export interface AlertPoint {
  /** The last of their ticks. */
  readonly atMs: number;
  readonly low: number;
  readonly high: number;
}

/** The messages of a receiver that are not yet sent. */
export interface Queued {
  readonly receiver: string;
  readonly messages: number;
  /** When the first of them was stored. */
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
  readonly atMs: number;
  /** Whether it must survive a loss of power; it always survives the end of a process. */
  readonly isDurable: boolean;
}

/** Returns the statements that write an evaluation, for one transaction. */
export function toStatements(written: Omit<AlertWrite, 'fence' | 'isDurable'>): Statement[] {
  const { alert, state, point, history, messages, atMs } = written;
  const drop = (table: string) => ({ text: `DELETE FROM ${table} WHERE alert = $1`, values: [alert] });
  const replace = 'ON CONFLICT (alert) DO UPDATE SET state = excluded.state';
  return [
    ...(state === undefined
      ? [drop('tailrace_alert_states'), drop('tailrace_alert_points')]
      : [insert('tailrace_alert_states', [{ alert, state }], replace)]),
    ...(point === undefined ? [] : [addPoint(alert, point)]),
    ...addEntries(alert, history),
    ...messages.map((message) => addMessage({ alert, ...message }, atMs)),
  ];
}

const POINT_MS = 300_000;
const POINTS_MAX = 86_400_000 / POINT_MS;

/** Widens the point of the same five minutes, or replaces an older one. */
function addPoint(alert: string, { measure, atMs, low, high }: NonNullable<AlertWrite['point']>): Statement {
  const old = 'tailrace_alert_points';
  const isSame = `${old}.measure = excluded.measure AND ${old}.at_ms / ${POINT_MS} = excluded.at_ms / ${POINT_MS}`;
  const slot = Math.floor(atMs / POINT_MS) % POINTS_MAX;
  return insert(
    old,
    [{ alert, slot, measure, at_ms: atMs, low, high }],
    `ON CONFLICT (alert, slot) DO UPDATE SET measure = excluded.measure, at_ms = excluded.at_ms,
      low = CASE WHEN ${isSame} AND ${old}.low < excluded.low THEN ${old}.low ELSE excluded.low END,
      high = CASE WHEN ${isSame} AND ${old}.high > excluded.high THEN ${old}.high ELSE excluded.high END`,
  );
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
  const rows = entries.map(({ id, atMs, entry }) => ({ id, alert, at_ms: atMs, entry }));
  return [...rows.map((row) => insert('tailrace_alert_history', [row])), excess];
}
