import { messageOf } from '../../errors.ts';
import type { OutboxMessage } from '../outbox.ts';
import { backOffMs, isExpired } from './back-off.ts';
import { type Delivery, type DeliveryOptions, toSendError } from './delivery.ts';
import type { Receiver } from './receiver.ts';
import { redact } from './redact.ts';
import { createStandingSet, type Standing } from './standing-set.ts';

// More are read in the next step.
const LOADED_MAX = 1_000;
// A resolved message is sent again a few times, so that older messages in the outbox have been read meanwhile and cannot replace it.
const RESOLVED_SENDINGS = 4;

/**
 * Sends messages to a receiver that forgets alerts unless they are sent again. Each stays in the outbox, due again every `resendMs`, until a
 * newer message has replaced it for each of its instances; so after a restart the same is sent again.
 */
export function createStandingDelivery(
  receiver: Receiver & { readonly resendMs: number },
  { outbox, now, random, watch }: DeliveryOptions,
): Delivery {
  const { name, secrets, resendMs } = receiver;
  const standing = createStandingSet();
  let failures = 0; // in a row

  /** Reads what is due before any of it is sent: a newer message may replace an older one. */
  async function load(): Promise<void> {
    // The same instant for all, so that after a restart they are read together, in their order.
    const nextMs = (Math.floor(now() / resendMs) + 1) * resendMs;
    for (let i = 0; i < LOADED_MAX; i++) {
      const queued = await outbox.next(name, now());
      if (queued === undefined) return;
      await outbox.again(queued.id, nextMs, ''); // it did not fail
      standing.add(queued);
    }
  }

  async function remove(id: string): Promise<void> {
    await outbox.done(id);
    standing.remove(id);
  }

  async function settle(one: Standing): Promise<void> {
    const { id, message, tries } = one.queued;
    const isBack = failures > 0;
    failures = 0;
    if (++one.sendings === 1 || isBack)
      watch({ kind: 'sent', receiver: name, alert: message.alert, id, tries: tries + 1 });
    standing.settle(id);
    const isOver =
      message.status === 'resolved' && one.sendings >= RESOLVED_SENDINGS && !standing.overlaps(one);
    if (isOver || message.isTest === true) await remove(id);
  }

  async function fail({ queued }: Standing, error: unknown): Promise<number> {
    const { id, message } = queued;
    const { isRejected, retryAfterMs } = toSendError(error);
    const reason = redact(messageOf(error), secrets);
    const event = { receiver: name, alert: message.alert, id, tries: ++failures, reason };
    // What fires is sent for as long as it fires.
    const isOver = message.status === 'resolved' && isExpired(queued, { tries: failures, nowMs: now() });
    if (isOver) {
      await outbox.giveUp(id, reason);
      standing.remove(id);
    }
    watch({ kind: isOver ? 'given_up' : 'failed', ...event });
    if (!isRejected) return Math.min(backOffMs({ tries: failures, retryAfterMs, random }), resendMs);
    standing.settle(id);
    return 0;
  }

  return {
    async step(signal) {
      await load();
      const one = standing.firstDue();
      if (one === undefined) return undefined;
      const { id, message } = one.queued;
      const held = standing.findHeld(one);
      if (held === undefined) {
        await remove(id);
        return 0;
      }
      const instances = await withoutSilenced(one, held, { outbox, now });
      if (instances === undefined) {
        standing.settle(id);
        return 0;
      }
      try {
        await receiver.send({ id, message: { ...message, instances }, sentAtMs: now() }, signal);
      } catch (error) {
        signal.throwIfAborted();
        return fail(one, error);
      }
      await settle(one);
      return 0;
    },
  };
}

type Held = OutboxMessage['message']['instances'];

/** Leaves out what is silenced: the receiver resolves it by itself, and gets it again after the silence. @returns `undefined`: none is left */
async function withoutSilenced(
  { queued: { id, message } }: Standing,
  held: Held,
  { outbox, now }: Pick<DeliveryOptions, 'outbox' | 'now'>,
): Promise<Held | undefined> {
  if (message.status === 'resolved' || message.isTest === true) return held;
  const isSilenced = await outbox.silenced(id, now());
  if (held.length === 0) return isSilenced({}) ? undefined : held;
  const heard = held.filter(({ labels }) => !isSilenced(labels));
  return heard.length === 0 ? undefined : heard;
}
