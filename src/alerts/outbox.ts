import { v7 as newOrderedId } from 'uuid';
import type { Severity } from '../definitions/alert.ts';
import type { Queued } from '../keys/alerts/alert-record.ts';
import type { AlertStore } from '../keys/alerts/alert-store.ts';
import { MICROS_PER_MS, type Micros } from '../lib/instant.ts';
import { writeEntry } from './history.ts';
import type { InstanceKind } from './state.ts';

/** What a receiver gets; the body of `webhook`. */
export interface AlertMessage {
  readonly alert: string;
  readonly status: 'firing' | 'resolved' | 'no_data' | 'error';
  readonly severity: Severity;
  readonly text: string;
  readonly at: Micros;
  readonly since: Micros;
  readonly instances: readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly values: Readonly<Record<string, number | string | null>>;
    /**
     * What it is about, unless it is a condition that holds: all three may fire at once with the same labels, and
     * resolve one by one.
     */
    readonly kind?: Exclude<InstanceKind, 'condition'>;
  }[];
  readonly link?: string;
  readonly isTest?: true;
}

export interface OutboxMessage {
  /** `webhook-id`, the same for every try. */
  readonly id: string;
  readonly receiver: string;
  readonly alertId: string;
  readonly message: AlertMessage;
  readonly tries: number;
  /** ms since the epoch. */
  readonly firstAtMs: number;
}

/** Messages that have not been delivered. */
export interface Outbox {
  /** Returns the oldest due message of a receiver. */
  next(receiver: string, nowMs: number): Promise<OutboxMessage | undefined>;
  done(id: string): Promise<void>;
  again(id: string, dueAtMs: number, reason: string): Promise<void>;
  giveUp(message: OutboxMessage, reason: string): Promise<void>;
  /** Counts the messages of each receiver that has any. */
  queues(): Promise<readonly Pick<Queued, 'receiver' | 'messages'>[]>;
}

/** Why a message is not sent to a receiver that the operator's file does not have. */
export const NO_RECEIVER = 'TAILRACE_RECEIVERS_FILE has no receiver of this name';

/** Messages that wait for a receiver. Hours of an alert that changes each second; beyond it the oldest are given up. */
export const WAITING_MAX = 10_000;
export const TOO_MANY = `more than ${WAITING_MAX} messages wait for this receiver`;

/** What is stored of a message: beside it the id of its alert, for the history. */
interface Stored {
  readonly alertId: string;
  readonly message: AlertMessage;
}

export function writeMessage(stored: Stored): string {
  return JSON.stringify(stored);
}

/** @param now ms since the epoch */
export function createOutbox(store: AlertStore, now: () => number): Outbox {
  return {
    async next(receiver, nowMs) {
      const stored = await store.nextMessage(receiver, nowMs);
      if (stored === undefined) return undefined;
      const { id, tries, firstMs } = stored;
      const { alertId, message } = JSON.parse(stored.message) as Stored; // of writeMessage
      return { id, receiver, alertId, message, tries, firstAtMs: firstMs };
    },
    done: store.removeMessage,
    again: (id, dueMs, reason) => store.postponeMessage(id, { dueMs, reason }),
    async giveUp({ id, alertId, receiver }, reason) {
      const entry = writeEntry({ change: 'not_delivered', receiver, reason });
      await store.dropMessage(id, alertId, { id: newOrderedId(), atMs: now(), entry });
    },
    queues: store.readOutbox,
  };
}

/** Microseconds of a time in ms. */
export function toMicros(ms: number): Micros {
  return ms * MICROS_PER_MS;
}
