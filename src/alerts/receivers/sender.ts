import { messageOf } from '../../errors.ts';
import { backOffMs, createThrottle } from '../../lib/task.ts';
import type { AlertMessage, Outbox, OutboxMessage } from '../outbox.ts';
import { type Receiver, redact, SendError } from './receiver.ts';

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

export interface SenderOptions {
  readonly outbox: Outbox;
  /** Lists what fires at present, for a receiver that forgets it unless it is sent again. */
  readonly listFiring: (receiver: string) => Promise<readonly AlertMessage[]>;
  /** ms since the epoch. */
  readonly now: () => number;
  /** At least 0, less than 1. */
  readonly random: () => number;
  readonly watch: (event: SenderEvent) => void;
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
  /**
   * Stops sending. A try that has not ended is aborted; its message is sent again, with the same id, after the next
   * start.
   */
  close(): Promise<void>;
}

// Messages that another replica stored, and those that are due again.
const POLL_MS = 1_000;
/**
 * Sends the messages of the outbox, one at a time to each receiver, each receiver by itself. Only one process may do so
 * at a time.
 */
export function openSender(options: SenderOptions, receivers: Iterable<Receiver>): Sender {
  const end = new AbortController();
  const queues = new Map<string, Queue>();
  /** Queues that were replaced, each in its last try. */
  const retired = new Set<Promise<void>>();

  async function replace(all: Iterable<Receiver>): Promise<void> {
    const next = new Map([...all].map((receiver) => [receiver.name, receiver]));
    for (const [name, queue] of queues) {
      if (next.get(name) === queue.receiver) continue;
      queues.delete(name);
      const ended = queue.retire().finally(() => retired.delete(ended));
      retired.add(ended);
    }
    // A receiver gets one message at a time, so its next queue waits for the end of the last one.
    const after = Promise.all(retired);
    for (const [name, receiver] of next)
      if (!queues.has(name)) queues.set(name, openQueue(receiver, options, { signal: end.signal, after }));
    await after;
  }

  void replace(receivers);
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
  const { now, watch } = options;
  const retiring = new AbortController();
  const end = AbortSignal.any([signal, retiring.signal]);
  const sendNext = createDelivery(receiver, options, signal);
  const throttle = createThrottle(now);
  let isWoken = false;
  let endPoll = () => {};

  async function poll(): Promise<void> {
    if (!isWoken)
      await pause(POLL_MS, end, (stop) => {
        endPoll = stop;
      });
    isWoken = false;
  }

  async function run(): Promise<void> {
    await after;
    while (!end.aborted) {
      try {
        const restMs = await sendNext();
        if (restMs === undefined) await poll();
        else if (restMs > 0) await pause(restMs, end);
      } catch (error) {
        if (signal.aborted) return;
        // Whatever the outbox could not store is tried again by the next step.
        const reason = redact(messageOf(error), receiver.secrets);
        throttle(() => watch({ kind: 'outbox_failed', receiver: receiver.name, reason }));
        await pause(POLL_MS, end);
      }
    }
  }

  const ended = run();
  return {
    ...{ receiver, ended },
    wake() {
      isWoken = true;
      endPoll();
    },
    retire() {
      retiring.abort();
      return ended;
    },
  };
}

/** Waits until the time has passed, the signal aborts, or the function is called that `onStart` gets. */
function pause(ms: number, signal: AbortSignal, onStart?: (stop: () => void) => void): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      resolve();
    };
    const timer = setTimeout(stop, ms);
    signal.addEventListener('abort', stop, { once: true });
    onStart?.(stop);
  });
}

const BACK_OFF = { firstMs: 2_000, longestMs: 600_000 };
// A receiver may ask for more patience than ours, but not for days.
const RETRY_AFTER_MS_MAX = 3_600_000;
const EXPIRY_MS = 86_400_000;
// In a day there are a hundred; with fewer, a clock that has jumped would end messages that were tried once.
const EXPIRY_TRIES_MIN = 10;

/**
 * Creates the deliveries to one receiver: each message until the receiver has accepted it, or a day has passed.
 *
 * @returns sends the next message that is due; returns for how many ms the receiver should be left alone, `undefined`
 * if nothing is due
 */
function createDelivery(
  receiver: Receiver,
  { outbox, listFiring, now, random, watch }: SenderOptions,
  signal: AbortSignal,
): () => Promise<number | undefined> {
  const { name, secrets, resendMs } = receiver;
  // Accepted, but not yet removed from the outbox: must not be sent again while this process runs.
  const accepted = new Set<string>();
  let failures = 0; // in a row
  let repeatedMs = Number.NEGATIVE_INFINITY;

  /** @returns `undefined`: the receiver accepted the message */
  async function send(id: string, message: AlertMessage): Promise<SendError | undefined> {
    try {
      await receiver.send({ id, message, sentAtMs: now() }, signal);
      failures = 0;
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      const failure = toSendError(error);
      if (!failure.isRejected) failures++;
      return failure;
    }
  }

  function restMs(tries: number, { retryAfterMs = 0 }: SendError): number {
    return Math.max(backOffMs(tries, { ...BACK_OFF, random }), Math.min(retryAfterMs, RETRY_AFTER_MS_MAX));
  }

  async function finish(id: string): Promise<void> {
    accepted.add(id);
    await outbox.done(id);
    accepted.delete(id);
  }

  async function fail(queued: OutboxMessage, failure: SendError): Promise<number> {
    const { id, message, firstAtMs } = queued;
    const tries = queued.tries + 1;
    const reason = redact(messageOf(failure), secrets);
    const event = { receiver: name, alert: message.alert, id, tries, reason };
    if (now() - firstAtMs >= EXPIRY_MS && Math.max(tries, failures) >= EXPIRY_TRIES_MIN) {
      await outbox.giveUp(queued, reason);
      watch({ kind: 'given_up', ...event });
      return 0;
    }
    const delayMs = restMs(tries, failure);
    await outbox.again(id, now() + delayMs, reason);
    watch({ kind: 'failed', ...event });
    // A receiver that is down gets nothing else meanwhile, so the order is kept. One that rejected a message may accept
    // the next.
    return failure.isRejected ? 0 : delayMs;
  }

  /** Sends again what fires. Nothing is stored: of repeats that fail, the next one has the newer state. */
  async function repeat(everyMs: number): Promise<number | undefined> {
    if (Math.abs(now() - repeatedMs) < everyMs) return undefined;
    const messages = await listFiring(name);
    repeatedMs = now();
    for (const message of messages) {
      const { alert } = message;
      const isBack = failures > 0;
      const failure = await send(alert, message);
      if (failure !== undefined) {
        const reason = redact(messageOf(failure), secrets);
        watch({ kind: 'failed', receiver: name, alert, tries: failures, reason });
        if (!failure.isRejected) return Math.min(restMs(failures, failure), everyMs);
      } else if (isBack) watch({ kind: 'sent', receiver: name, alert });
    }
    return undefined;
  }

  return async () => {
    for (const id of accepted) await finish(id);
    const queued = await outbox.next(name, now());
    // A message may be older than the state that is repeated, so it goes first.
    if (queued === undefined) return resendMs === undefined ? undefined : await repeat(resendMs);
    const { id, message, tries } = queued;
    const failure = await send(id, message);
    if (failure !== undefined) return await fail(queued, failure);
    watch({ kind: 'sent', receiver: name, alert: message.alert, id, tries: tries + 1 });
    await finish(id);
    return 0;
  };
}

/** A failure that is not the receiver's, such as a message that cannot be written, must not hold up its other messages. */
function toSendError(error: unknown): SendError {
  return error instanceof SendError
    ? error
    : new SendError(messageOf(error), { isRejected: true, cause: error });
}
