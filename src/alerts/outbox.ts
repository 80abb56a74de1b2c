import { v7 as newOrderedId } from 'uuid';
import type { StoredMessage } from '../keys/alerts/alert-record.ts';
import type { AlertStore } from '../keys/alerts/alert-store.ts';
import { writeEntry } from './history.ts';
import type { AlertMessage } from './message.ts';

/** Its id is the `webhook-id`, the same for every try. */
export type OutboxMessage = Omit<StoredMessage, 'message'> & { readonly message: AlertMessage };
export type Outbox = ReturnType<typeof createOutbox>;

/** How long a message is tried, or waits for a receiver that is not in the operator's file. */
export const EXPIRY_MS = 86_400_000;

/** Creates the messages that have not been delivered. @param now ms since the epoch */
export function createOutbox(store: AlertStore, now: () => number) {
  const entryOf = (event: Parameters<typeof writeEntry>[0]) => ({
    ...{ id: newOrderedId(), atMs: now(), entry: writeEntry(event) },
  });
  return {
    /** Returns the oldest due message of a receiver. */
    async next(receiver: string, nowMs: number): Promise<OutboxMessage | undefined> {
      const stored = await store.nextMessage(receiver, nowMs);
      return stored && { ...stored, message: readMessage(stored.message) };
    },
    /** Removes what the receiver has accepted, and what it says of these instances from older messages that still wait. */
    async done({ id, receiver, alert, message }: OutboxMessage): Promise<void> {
      const waiting = await store.listMessages(receiver, alert);
      const older = waiting.filter((one) => one.id < id);
      const changed = older.flatMap((one) => {
        const rest = subtract(readMessage(one.message), message);
        return rest === undefined ? [] : [{ id: one.id, message: rest }];
      });
      const entry = entryOf({ change: 'delivered', receiver, status: message.status });
      await store.endMessage({ id, alert, entry, changed });
    },
    again: (id: string, dueMs: number, reason: string) => store.postponeMessage(id, { dueMs, reason }),
    async giveUp({ id, alert, receiver }: OutboxMessage, reason: string): Promise<void> {
      const entry = entryOf({ change: 'not_delivered', receiver, reason });
      await store.endMessage({ id, alert, entry, changed: [] });
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
