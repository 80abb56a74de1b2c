import { v7 as newOrderedId } from 'uuid';
import type { AlertStore } from '../keys/alerts/alert-store.ts';
import { writeEntry } from './history.ts';
import type { AlertMessage } from './message.ts';

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
  /** Removes what the receiver has accepted, and what it says of these instances from older messages that still wait. */
  done(message: OutboxMessage): Promise<void>;
  again(id: string, dueAtMs: number, reason: string): Promise<void>;
  giveUp(message: OutboxMessage, reason: string): Promise<void>;
}

/** How long a message is tried, or waits for a receiver that is not in the operator's file. */
export const EXPIRY_MS = 86_400_000;

/** @param now ms since the epoch */
export function createOutbox(store: AlertStore, now: () => number): Outbox {
  const entryOf = (event: Parameters<typeof writeEntry>[0]) => ({
    ...{ id: newOrderedId(), atMs: now(), entry: writeEntry(event) },
  });
  return {
    async next(receiver, nowMs) {
      const stored = await store.nextMessage(receiver, nowMs);
      if (stored === undefined) return undefined;
      const { id, alert: alertId, message, tries, firstMs } = stored;
      return { id, receiver, alertId, message: readMessage(message), tries, firstAtMs: firstMs };
    },
    async done({ id, receiver, alertId, message }) {
      const waiting = await store.listMessages(receiver, alertId);
      const older = waiting.filter((one) => one.id < id);
      const changed = older.flatMap((one) => {
        const rest = subtract(readMessage(one.message), message);
        return rest === undefined ? [] : [{ id: one.id, message: rest }];
      });
      const entry = entryOf({ change: 'delivered', receiver, status: message.status });
      await store.endMessage({ id, alert: alertId, entry, changed });
    },
    again: (id, dueMs, reason) => store.postponeMessage(id, { dueMs, reason }),
    async giveUp({ id, alertId, receiver }, reason) {
      const entry = entryOf({ change: 'not_delivered', receiver, reason });
      await store.endMessage({ id, alert: alertId, entry, changed: [] });
    },
  };
}

function readMessage(text: string): AlertMessage {
  return JSON.parse(text) as AlertMessage; // of evaluation.ts
}

/**
 * Returns what is left of an older message, so that the last one that a receiver accepts about an instance is the
 * newest.
 *
 * @returns JSON; empty: nothing; `undefined`: all of it
 */
function subtract(older: AlertMessage, newer: AlertMessage): string | undefined {
  const isSame = ({ alert, severity, test }: AlertMessage) =>
    alert === newer.alert && severity === newer.severity && test === newer.test;
  const keyOf = ({ labels }: AlertMessage['instances'][number]) => JSON.stringify(Object.entries(labels));
  const known = new Set(newer.instances.map(keyOf));
  const instances = older.instances.filter((one) => !known.has(keyOf(one)));
  if (!isSame(older) || instances.length === older.instances.length) return undefined;
  return instances.length === 0 ? '' : JSON.stringify({ ...older, instances });
}
