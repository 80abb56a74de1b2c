import { messageOf } from '../../errors.ts';
import { createThrottle } from '../../lib/throttle.ts';
import type { AlertMessage } from '../outbox.ts';
import { createDelivery, type Delivery, type DeliveryOptions } from './delivery.ts';
import { createPause } from './pause.ts';
import { type Receiver, SendError } from './receiver.ts';
import { redact } from './redact.ts';
import { createStandingDelivery } from './standing.ts';

export interface SenderOptions extends DeliveryOptions {
  readonly receivers: Iterable<Receiver>;
  /** How often a queue is read without being woken. */
  readonly pollMs?: number;
}

export interface Sender {
  /** Reads the queue of a receiver now, or of each. Call it when a message was stored. */
  wake(receiver?: string): void;
  /** Stops sending. A try that has not ended is aborted; its message is sent again, with the same id, after the next start. */
  close(): Promise<void>;
}

// Messages that another replica stored, and those that are due again.
const POLL_MS = 1_000;
const OUTBOX_LOG_MS = 60_000;

/**
 * Sends the messages of the outbox, one at a time to each receiver, each receiver by itself. Only one process may do so at a time.
 */
export function openSender(options: SenderOptions): Sender {
  const end = new AbortController();
  const queues = [...options.receivers].map((receiver) => openQueue(receiver, options, end.signal));
  return {
    wake(name) {
      for (const queue of queues) if (name === undefined || queue.name === name) queue.wake();
    },
    async close() {
      end.abort(new Error('Tailrace is stopping'));
      await Promise.all(queues.map(({ ended }) => ended));
    },
  };
}

function openQueue(receiver: Receiver, options: SenderOptions, signal: AbortSignal) {
  const { now, watch, pollMs = POLL_MS } = options;
  const delivery: Delivery =
    receiver.resendMs === undefined
      ? createDelivery(receiver, options)
      : createStandingDelivery({ ...receiver, resendMs: receiver.resendMs }, options);
  const pause = createPause(signal);
  const throttle = createThrottle(OUTBOX_LOG_MS, now);

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        const restMs = await delivery.step(signal);
        if (restMs === undefined) await pause.untilWoken(pollMs);
        else if (restMs > 0) await pause.for(restMs);
      } catch (error) {
        if (signal.aborted) return;
        // Whatever the outbox could not store is tried again by the next step.
        const reason = redact(messageOf(error), receiver.secrets);
        throttle(() => watch({ kind: 'outbox_failed', receiver: receiver.name, reason }));
        await pause.for(pollMs);
      }
    }
  }

  return { name: receiver.name, wake: pause.wake, ended: run() };
}

/**
 * Sends one message at once, past the outbox.
 *
 * @throws SendError saying why the receiver has not accepted it, without secrets
 */
export async function testReceiver(
  receiver: Receiver,
  message: AlertMessage,
  { id, nowMs, signal }: { readonly id: string; readonly nowMs: number; readonly signal: AbortSignal },
): Promise<void> {
  try {
    await receiver.send({ id, message: { ...message, isTest: true }, sentAtMs: nowMs }, signal);
  } catch (error) {
    throw new SendError(`${receiver.name}: ${redact(messageOf(error), receiver.secrets)}`, { cause: error });
  }
}
