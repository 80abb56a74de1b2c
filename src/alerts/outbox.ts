import type { Micros } from '../lib/instant.ts';

/** What a receiver is sent: one change of an alert, with all instances that it concerns. */
export interface AlertMessage {
  readonly alert: string;
  readonly status: 'firing' | 'resolved' | 'no_data' | 'error';
  readonly severity: 'info' | 'warning' | 'critical';
  readonly text: string;
  readonly at: Micros;
  readonly since: Micros;
  readonly instances: readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly values: Readonly<Record<string, number | string | null>>;
  }[];
  readonly link?: string;
  readonly isTest?: true;
}

export interface OutboxMessage {
  /** The `webhook-id`: the same for every try. */
  readonly id: string;
  readonly receiver: string;
  readonly message: AlertMessage;
  readonly tries: number;
  readonly firstAtMs: number;
}

/** Messages that have to be sent, kept over restarts. */
export interface Outbox {
  next(receiver: string, nowMs: number): Promise<OutboxMessage | undefined>;
  done(id: string): Promise<void>;
  again(id: string, dueAtMs: number, reason: string): Promise<void>;
  giveUp(id: string, reason: string): Promise<void>;
}
