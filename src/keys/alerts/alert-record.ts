/** Values by column. */
export type Row = Readonly<Record<string, unknown>>;

export interface HistoryEntry {
  /** Ascending with the time at which it was written. */
  readonly id: string;
  /** ms since the epoch: the tick of the evaluation. */
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
  /** Id of the key, or `cli`. */
  readonly author: string;
  readonly createdMs: number;
}

/** A message that has not been delivered. Times are ms since the epoch. */
export interface StoredMessage {
  readonly id: string;
  readonly receiver: string;
  /** JSON. */
  readonly message: string;
  readonly tries: number;
  readonly firstMs: number;
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
  };
}
