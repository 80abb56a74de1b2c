import type { Row } from '../database.ts';

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
