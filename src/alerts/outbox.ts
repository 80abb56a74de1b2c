import type { StoredMessage } from '../keys/alerts/alert-record.ts';
import type { AlertStore } from '../keys/alerts/alert-store.ts';
import { createEntry } from './evaluation.ts';
import type { AlertMessage } from './message.ts';
import { keyOf } from './state.ts';

/** Its id is the `webhook-id`, the same for every try. */
export type OutboxMessage = Omit<StoredMessage, 'message'> & { readonly message: AlertMessage };
export type Outbox = ReturnType<typeof createOutbox>;

/** How long a message is tried, or waits for a receiver that is not in the operator's file. */
export const EXPIRY_MS = 86_400_000;
/** Messages that wait for a receiver: hours of an alert that changes each second. */
const WAITING_MAX = 10_000;
const TOO_MANY = `more than ${WAITING_MAX} messages wait for this receiver`;
const TOO_LONG = 'TAILRACE_RECEIVERS_FILE has had no receiver of this name for a day';

/** Creates the messages that have not been delivered. @param now ms since the epoch */
export function createOutbox(store: AlertStore, now: () => number) {
  async function next(receiver: string, nowMs: number): Promise<OutboxMessage | undefined> {
    const stored = await store.nextMessage(receiver, nowMs);
    return stored && { ...stored, message: readMessage(stored.message) };
  }

  return {
    /** Returns the oldest due message of a receiver. */
    next,
    /** Removes what the receiver has accepted, and what it says of these instances from older messages that still wait. */
    async done({ id, receiver, alert, message }: OutboxMessage): Promise<void> {
      const waiting = await store.listMessages(receiver, alert);
      const older = waiting.filter((one) => one.id < id);
      const changed = older.flatMap((one) => {
        const rest = subtract(readMessage(one.message), message);
        return rest === undefined ? [] : [{ id: one.id, message: rest }];
      });
      const entry = createEntry({ change: 'delivered', receiver, status: message.status }, now());
      await store.endMessage({ id, alert, entry, changed });
    },
    again: (id: string, dueMs: number, reason: string) => store.postponeMessage(id, dueMs, reason),
    async giveUp({ id, alert, receiver }: OutboxMessage, reason: string): Promise<void> {
      const entry = createEntry({ change: 'not_delivered', receiver, reason }, now());
      await store.endMessage({ id, alert, entry, changed: [] });
    },
    /** Finds messages to receivers gone for a day, and to those with too many. Each has to be given up before the next. */
    async *findStale(receivers: ReadonlySet<string>) {
      for (const { receiver, messages } of await store.readOutbox()) {
        const findOldest = () => next(receiver, Number.MAX_SAFE_INTEGER);
        for (let excess = messages - WAITING_MAX; excess > 0; excess--)
          yield { stale: await findOldest(), reason: TOO_MANY };
        if (receivers.has(receiver)) continue;
        const isOld = (one: OutboxMessage | undefined) => one && now() - one.firstMs >= EXPIRY_MS;
        for (let stale = await findOldest(); isOld(stale); stale = await findOldest())
          yield { stale, reason: TOO_LONG };
      }
    },
  };
}

function readMessage(text: string): AlertMessage {
  return JSON.parse(text) as AlertMessage; // of evaluation.ts
}

/**
 * Subtracts what a newer message says, so that the last one that a receiver accepts about an instance is the newest.
 * @returns JSON of the rest; empty: nothing is left; `undefined`: all of it
 */
function subtract(older: AlertMessage, newer: AlertMessage): string | undefined {
  if ((['alert', 'severity', 'test'] as const).some((field) => older[field] !== newer[field]))
    return undefined;
  const known = new Set(newer.instances.map(({ labels }) => keyOf(labels)));
  const instances = older.instances.filter(({ labels }) => !known.has(keyOf(labels)));
  if (instances.length === older.instances.length) return undefined;
  return instances.length === 0 ? '' : JSON.stringify({ ...older, instances });
}
