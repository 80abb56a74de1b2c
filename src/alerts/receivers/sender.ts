import { messageOf } from '../../errors.ts';
import { createThrottle } from '../../lib/throttle.ts';
import { createDelivery, type Delivery, type DeliveryOptions } from './delivery.ts';
import { createPause } from './pause.ts';
import type { Receiver } from './receiver.ts';
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
  /**
   * Replaces the receivers. The queue of one that is not the same object, or is gone, ends after its present try.
   *
   * @returns when these tries have ended
   */
  replace(receivers: Iterable<Receiver>): Promise<void>;
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
  const queues = new Map<string, Queue>();
  /** Queues that were replaced, each in its last try. */
  const retired = new Set<Promise<void>>();

  function retire(queue: Queue): Promise<void> {
    const ended = queue.retire().finally(() => retired.delete(ended));
    retired.add(ended);
    return ended;
  }

  async function replace(receivers: Iterable<Receiver>): Promise<void> {
    const next = new Map([...receivers].map((receiver) => [receiver.name, receiver]));
    const ending: Promise<void>[] = [];
    for (const [name, queue] of queues) {
      if (next.get(name) === queue.receiver) continue;
      ending.push(retire(queue));
      queues.delete(name);
    }
    // A receiver gets one message at a time, so its next queue waits for the end of the last one.
    const after = Promise.all(ending);
    for (const [name, receiver] of next)
      if (!queues.has(name)) queues.set(name, openQueue(receiver, options, { signal: end.signal, after }));
    await after;
  }

  void replace(options.receivers);
  return {
    wake(name) {
      for (const queue of queues.values())
        if (name === undefined || queue.receiver.name === name) queue.wake();
    },
    replace,
    async close() {
      end.abort(new Error('Tailrace is stopping'));
      await Promise.all([...retired, ...[...queues.values()].map(({ ended }) => ended)]);
    },
  };
}

interface Queue {
  readonly receiver: Receiver;
  readonly wake: () => void;
  readonly ended: Promise<void>;
  /** Ends it after its present try. */
  readonly retire: () => Promise<void>;
}

interface QueueEnds {
  /** Aborts tries. */
  readonly signal: AbortSignal;
  /** Before it resolves nothing is sent. */
  readonly after: Promise<unknown>;
}

function openQueue(receiver: Receiver, options: SenderOptions, { signal, after }: QueueEnds): Queue {
  const { now, watch, pollMs = POLL_MS } = options;
  const retiring = new AbortController();
  const end = AbortSignal.any([signal, retiring.signal]);
  const delivery: Delivery =
    receiver.resendMs === undefined
      ? createDelivery(receiver, options)
      : createStandingDelivery({ ...receiver, resendMs: receiver.resendMs }, options);
  const pause = createPause(end);
  const throttle = createThrottle(OUTBOX_LOG_MS, now);

  async function run(): Promise<void> {
    await after;
    while (!end.aborted) {
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

  const ended = run();
  return {
    ...{ receiver, wake: pause.wake, ended },
    retire() {
      retiring.abort();
      return ended;
    },
  };
}
