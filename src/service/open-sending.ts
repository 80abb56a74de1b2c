import { createOutbox, NO_RECEIVER, TOO_MANY, WAITING_MAX } from '../alerts/outbox.ts';
import type { Sender, SenderEvent, SenderOptions } from '../alerts/receivers/sender.ts';
import type { ControlStore } from '../keys/control-store.ts';
import { createThrottle } from '../lib/throttle.ts';
import type { Parts } from './parts.ts';
import type { Receivers } from './receivers.ts';

const LOG_AGAIN_MS = 60_000;

/** Sends messages of alerts between `start` and `stop`. */
export interface Sending {
  /** Sends what was stored. */
  wake(): void;
  /** Does nothing if it was started. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Gives up the messages to receivers that are gone, and the oldest to one with too many. Does nothing unless it was started. */
  clean(): Promise<void>;
}

interface SendingOptions extends Pick<SenderOptions, 'listFiring'> {
  readonly control: ControlStore;
  readonly receivers: Receivers;
  /** Called after each try to send a message. */
  readonly tried: (receiver: string, outcome: Exclude<SenderEvent['kind'], 'outbox_failed'>) => void;
}

/** Two senders would send messages twice, so only the process that evaluates starts it. */
export function createSending(
  { config, now, random, logger }: Pick<Parts, 'config' | 'now' | 'random' | 'logger'>,
  { control, receivers, listFiring, tried }: SendingOptions,
): Sending {
  const outbox = createOutbox(control.alerts, now);
  /** One for each receiver: those that fail all the time must not hide that another one does. */
  const throttles = new Map<string, ReturnType<typeof createThrottle>>();
  const current = () => receivers.current().values();
  let sender: Sender | undefined;

  function watch({ kind, ...event }: SenderEvent): void {
    if (kind !== 'outbox_failed') tried(event.receiver, kind);
    if (kind === 'given_up') logger.error(event, 'a message of an alert was given up');
    else if (kind !== 'sent')
      throttleOf(event.receiver)(() => logger.warn(event, 'a message of an alert could not be sent'));
  }

  function throttleOf(receiver: string): ReturnType<typeof createThrottle> {
    const throttle = throttles.get(receiver) ?? createThrottle(LOG_AGAIN_MS, now);
    throttles.set(receiver, throttle);
    return throttle;
  }

  async function clean(): Promise<void> {
    if (sender === undefined) return;
    for (const { receiver, messages } of await outbox.queues()) {
      const isGone = !receivers.names().has(receiver);
      const reason = isGone ? NO_RECEIVER : TOO_MANY;
      const count = await giveUp(receiver, { reason, max: isGone ? messages : messages - WAITING_MAX });
      if (count > 0) logger.error({ receiver, messages: count, reason }, 'messages were given up');
    }
  }

  /** Gives up the oldest messages. @returns how many there were */
  async function giveUp(receiver: string, { reason, max }: { reason: string; max: number }): Promise<number> {
    for (let count = 0; count < max; count++) {
      const queued = await outbox.next(receiver, Number.MAX_SAFE_INTEGER);
      if (queued === undefined || sender === undefined) return count;
      await outbox.giveUp(queued, reason);
    }
    return Math.max(max, 0);
  }

  const reportFailure = (error: unknown) =>
    logger.error(
      { err: error },
      'messages that cannot be delivered could not be removed; trying again later',
    );

  receivers.onTaken(() => {
    void sender?.replace(current()).then(clean).catch(reportFailure);
  });

  return {
    wake: () => sender?.wake(),
    async start() {
      // Without a file messages wait for one.
      if (sender !== undefined || config.receiversFile === '') return;
      const { openSender } = await import('../alerts/receivers/sender.ts');
      sender = openSender({ outbox, listFiring, now, random, watch }, current());
      await clean().catch(reportFailure);
    },
    async stop() {
      const ended = sender;
      sender = undefined;
      await ended?.close();
    },
    clean,
  };
}
