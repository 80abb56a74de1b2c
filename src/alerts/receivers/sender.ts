import { messageOf } from '../../errors.ts';
import { backOffMs, createThrottle } from '../../lib/task.ts';
import type { AlertMessage } from '../message.ts';
import { EXPIRY_MS, type Outbox, type OutboxMessage } from '../outbox.ts';
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
  readonly outbox: Pick<Outbox, 'next' | 'done' | 'again' | 'giveUp'>;
  /** The present receivers, by name. */
  readonly receivers: () => ReadonlyMap<string, Receiver>;
  /** Lists what fires at present, for a receiver that forgets it unless it is sent again. */
  readonly listFiring: (receiver: string) => Promise<readonly AlertMessage[]>;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Monotonic ms. */
  readonly ticks: () => number;
  /** At least 0, less than 1. */
  readonly random: () => number;
  readonly watch: (event: SenderEvent) => void;
}

export type Sender = ReturnType<typeof createSender>;

// Messages of an evaluation leave within so long, and those that are due again.
const POLL_MS = 500;

/** What is sent to one receiver, one message at a time. */
interface Line {
  readonly receiver: Receiver;
  readonly sendNext: ReturnType<typeof createDelivery>;
  readonly throttle: ReturnType<typeof createThrottle>;
  /** By `ticks`: it is left alone until then. */
  restUntilMs: number;
  running?: Promise<void> | undefined;
}

/** Sends the messages of the outbox, one at a time to each receiver. Only one process may do so at a time. */
export function createSender(options: SenderOptions) {
  const { receivers, ticks, now, watch } = options;
  const lines = new Map<string, Line>();
  let end = new AbortController();

  /** @returns another line if the entry of the receiver has changed and its last message has ended */
  function lineOf(receiver: Receiver): Line {
    const known = lines.get(receiver.name);
    if (known?.receiver.version === receiver.version || known?.running !== undefined) return known;
    const sendNext = createDelivery(receiver, options, end.signal);
    const line: Line = { receiver, sendNext, throttle: createThrottle(now), restUntilMs: ticks() };
    lines.set(receiver.name, line);
    return line;
  }

  async function send(line: Line, { signal }: AbortController): Promise<void> {
    const { receiver, sendNext, throttle } = line;
    try {
      for (let restMs: number | undefined = 0; restMs === 0; line.restUntilMs = ticks() + (restMs ?? POLL_MS))
        restMs = await sendNext();
    } catch (error) {
      if (signal.aborted) return;
      // Whatever the outbox could not store is tried again by the next step.
      const reason = redact(messageOf(error), receiver.secrets);
      throttle(() => watch({ kind: 'outbox_failed', receiver: receiver.name, reason }));
      line.restUntilMs = ticks() + POLL_MS;
    }
  }

  return {
    /** Sends what is due, to each receiver that is not busy; for a task. */
    tick(): void {
      for (const receiver of receivers().values()) {
        const line = lineOf(receiver);
        if (line.running === undefined && ticks() >= line.restUntilMs)
          line.running = send(line, end).finally(() => {
            line.running = undefined;
          });
      }
    },
    /** Stops until the next `tick`. A try that has not ended is aborted; its message is sent again, with the same id. */
    async stop(): Promise<void> {
      if (lines.size === 0) return; // a replica without the lease stops several times a second
      end.abort(new Error('Tailrace is stopping'));
      end = new AbortController();
      const all = [...lines.values()];
      lines.clear();
      await Promise.all(all.map(({ running }) => running));
    },
  };
}

const BACK_OFF = { firstMs: 2_000, longestMs: 600_000 };
// A receiver may ask for more patience than ours, but not for days.
const RETRY_AFTER_MS_MAX = 3_600_000;
// In a day there are a hundred; with fewer, a clock that has jumped would end messages that were tried once.
const EXPIRY_TRIES_MIN = 10;

/**
 * Delivers each message until the receiver has accepted it, or a day has passed.
 * @returns sends what is due next; returns for how many ms to leave the receiver alone, `undefined` if nothing is due
 */
export function createDelivery(
  receiver: Receiver,
  { outbox, listFiring, now, random, watch }: Omit<SenderOptions, 'receivers' | 'ticks'>,
  signal: AbortSignal,
): () => Promise<number | undefined> {
  const { name, secrets, resendMs } = receiver;
  // Accepted, but not yet removed from the outbox: must not be sent again while this process runs.
  const accepted = new Set<OutboxMessage>();
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
      if (!(error instanceof SendError))
        // Such as a message that cannot be written: it must not hold up the receiver's other messages.
        return new SendError(messageOf(error), { isRejected: true, cause: error });
      if (!error.isRejected) failures++;
      return error;
    }
  }

  const restMs = (tries: number, { retryAfterMs = 0 }: SendError): number =>
    Math.max(backOffMs(tries, { ...BACK_OFF, random }), Math.min(retryAfterMs, RETRY_AFTER_MS_MAX));

  async function finish(message: OutboxMessage): Promise<void> {
    accepted.add(message);
    await outbox.done(message);
    accepted.delete(message);
  }

  async function fail(queued: OutboxMessage, failure: SendError): Promise<number> {
    const { id, message, firstMs } = queued;
    const tries = queued.tries + 1;
    const reason = redact(messageOf(failure), secrets);
    const event = { receiver: name, alert: message.alert, id, tries, reason };
    const isOld = now() - firstMs >= EXPIRY_MS && Math.max(tries, failures) >= EXPIRY_TRIES_MIN;
    if (isOld || failure.isFinal) {
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
    for (const message of accepted) await finish(message);
    const queued = await outbox.next(name, now());
    // A message may be older than the state that is repeated, so it goes first.
    if (queued === undefined) return resendMs === undefined ? undefined : await repeat(resendMs);
    const { id, message, tries } = queued;
    const failure = await send(id, message);
    if (failure !== undefined) return await fail(queued, failure);
    watch({ kind: 'sent', receiver: name, alert: message.alert, id, tries: tries + 1 });
    await finish(queued);
    return 0;
  };
}
