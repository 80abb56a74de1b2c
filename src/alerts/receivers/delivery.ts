import { messageOf } from '../../errors.ts';
import type { Outbox, OutboxMessage } from '../outbox.ts';
import { backOffMs, isExpired } from './back-off.ts';
import { type Receiver, SendError } from './receiver.ts';
import { redact } from './redact.ts';

/** What happened to a message, for the log and the metrics. Nothing in it is secret. */
export interface SenderEvent {
  readonly kind: 'sent' | 'failed' | 'given_up' | 'outbox_failed';
  readonly receiver: string;
  readonly alert?: string;
  readonly id?: string;
  /** Tries of this message, including this one. */
  readonly tries?: number;
  readonly reason?: string;
}

export interface DeliveryOptions {
  readonly outbox: Outbox;
  /** ms since the epoch. */
  readonly now: () => number;
  /** At least 0, less than 1. */
  readonly random: () => number;
  readonly watch: (event: SenderEvent) => void;
}

/** One queue of one receiver. */
export interface Delivery {
  /** Sends what is due. @returns for how many ms the receiver should be left alone; `undefined`: nothing is due */
  step(signal: AbortSignal): Promise<number | undefined>;
}

/** Sends each message until the receiver has accepted it, or a day has passed. */
export function createDelivery(receiver: Receiver, options: DeliveryOptions): Delivery {
  const { outbox, now, random, watch } = options;
  const { name, secrets } = receiver;
  // Accepted, but not yet removed from the outbox: must not be sent again while this process lives.
  const accepted = new Set<string>();
  let failures = 0; // in a row

  async function finish(id: string): Promise<void> {
    accepted.add(id);
    await outbox.done(id);
    accepted.delete(id);
  }

  async function fail(queued: OutboxMessage, error: unknown): Promise<number> {
    const { id, message } = queued;
    const tries = queued.tries + 1;
    const reason = redact(messageOf(error), secrets);
    const { isRejected, retryAfterMs } = toSendError(error);
    if (!isRejected) failures++;
    const event = { receiver: name, alert: message.alert, id, tries, reason };
    if (isExpired(queued, { tries: Math.max(tries, failures), nowMs: now() })) {
      await outbox.giveUp(id, reason);
      watch({ kind: 'given_up', ...event });
      return 0;
    }
    const delayMs = backOffMs({ tries, retryAfterMs, random });
    await outbox.again(id, now() + delayMs, reason);
    watch({ kind: 'failed', ...event });
    // A receiver that is down gets nothing else meanwhile, so the order is kept. One that rejected a message may accept the next.
    return isRejected ? 0 : delayMs;
  }

  return {
    async step(signal) {
      for (const id of accepted) await finish(id);
      const queued = await outbox.next(name, now());
      if (queued === undefined) return undefined;
      const { id, message, tries } = queued;
      try {
        await receiver.send({ id, message, sentAtMs: now() }, signal);
      } catch (error) {
        signal.throwIfAborted();
        return fail(queued, error);
      }
      failures = 0;
      watch({ kind: 'sent', receiver: name, alert: message.alert, id, tries: tries + 1 });
      await finish(id);
      return 0;
    },
  };
}

/** A failure that is not the receiver's, such as a message that cannot be written, must not hold up its other messages. */
export function toSendError(error: unknown): SendError {
  return error instanceof SendError
    ? error
    : new SendError(messageOf(error), { isRejected: true, cause: error });
}
