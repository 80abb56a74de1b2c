import { randomUUID } from 'node:crypto';
import { createEvaluate } from '../alerts/evaluate.ts';
import { createEvaluator } from '../alerts/evaluator.ts';
import { createOutbox } from '../alerts/outbox.ts';
import type { SenderEvent } from '../alerts/receivers/delivery.ts';
import type { Receiver } from '../alerts/receivers/receiver.ts';
import type { Sender } from '../alerts/receivers/sender.ts';
import type { TestCommandOptions } from '../alerts/test-command.ts';
import { verifyReceivers } from '../alerts/verify.ts';
import type { Config } from '../config/config.ts';
import type { Alert } from '../definitions/alert.ts';
import { refuseFaults } from '../definitions/fault.ts';
import type { ControlStore } from '../keys/control-store.ts';
import { type ClockGuard, createClockGuard } from '../lib/clock-guard.ts';
import { createThrottle } from '../lib/throttle.ts';
import { createRunner } from '../query/run.ts';
import type { Parts } from './parts.ts';

const HOUR_MS = 3_600_000;
const TICK_MS = 250;
const RENEW_MS = 1_000;
const LOG_AGAIN_MS = 60_000;
const HISTORY_MS = 90 * 24 * HOUR_MS;
// After so long, another replica takes over.
const LEASE_MS = 3_000;
// One process owns the data directory, and so the store in it; it takes its own lease again.
const OWN = { owner: 'the service', leaseMs: 60_000 };

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the receivers of the settings; none without a file. @throws InputError with every fault, also of alerts that name others */
export async function openReceivers(
  { receiversFile }: Pick<Config, 'receiversFile'>,
  alerts: readonly Alert[],
  environment: Environment,
): Promise<ReadonlyMap<string, Receiver>> {
  if (receiversFile === '') return new Map();
  const { readReceivers } = await import('../alerts/receivers/receivers-file.ts'); // its libraries are loaded only if they are used
  const receivers = await readReceivers(receiversFile, { environment });
  refuseFaults(verifyReceivers(alerts, new Set(receivers.keys())));
  return receivers;
}

/** Evaluates the alerts and sends their messages until the service closes. @returns what `tailrace alerts test` needs */
export async function openAlerts(
  parts: Parts,
  control: ControlStore,
  environment: Environment,
): Promise<TestCommandOptions> {
  const { config, core, logger, now, startTask, opened } = parts;
  const { engine, registry, clock } = core;
  const engineNow = () => clock.correctedMs() ?? Date.now();
  const evaluate = createEvaluate({ ...config, registry, run: createRunner(engine, now, engineNow) });
  const throttle = createThrottle(LOG_AGAIN_MS, now);
  const isAlone = config.controlUrl === '' && config.clickhouseUrl === '';
  const plausibleNow = createPlausibleNow(clock, { now, jumpMsMax: config.clockJumpHoursMax * HOUR_MS });
  const known = await openReceivers(config, registry.alerts, environment);
  const names = new Set(known.keys());
  const receivers = () => names;
  const sending = createSending(parts, control, [...known.values()]);
  const evaluator = createEvaluator({
    ...{ evaluate, store: control.alerts, alerts: () => registry.alerts, now: plausibleNow },
    ...(isAlone ? OWN : { owner: randomUUID(), leaseMs: LEASE_MS }),
    ticks: () => performance.now(),
    receivers,
    onMessages: sending.wake,
    onEvaluated(alert, error) {
      if (error === undefined) return;
      const text = 'the result of an alert could not be stored; it is evaluated again';
      throttle(() => logger.error({ err: error, alert }, text));
    },
  });
  opened.defer(evaluator.close);
  opened.defer(sending.stop);
  startTask({ name: 'alert-lease', everyMs: RENEW_MS, run: evaluator.renew });
  startTask({ name: 'alerts', everyMs: TICK_MS, run: evaluator.tick });
  startTask({
    name: 'alert-messages',
    everyMs: RENEW_MS,
    run: () => (evaluator.isLeader() ? sending.start() : sending.stop()),
  });
  startTask({
    name: 'alert-history',
    everyMs: HOUR_MS,
    run: () => evaluator.isLeader() && control.alerts.trim(plausibleNow() - HISTORY_MS),
  });
  return { registry, evaluate, store: control.alerts, receivers, now: plausibleNow };
}

/** Sends while this process evaluates: two senders would send messages twice. */
function createSending(
  { now, random, logger }: Parts,
  control: ControlStore,
  receivers: readonly Receiver[],
) {
  const outbox = createOutbox(control.alerts, now);
  const throttle = createThrottle(LOG_AGAIN_MS, now);
  let sender: Sender | undefined;
  function watch({ kind, ...event }: SenderEvent): void {
    if (kind === 'given_up') logger.error(event, 'a message of an alert was given up');
    else if (kind !== 'sent') throttle(() => logger.warn(event, 'a message of an alert could not be sent'));
  }
  return {
    wake: () => sender?.wake(),
    async start(): Promise<void> {
      if (sender !== undefined || receivers.length === 0) return;
      const { openSender } = await import('../alerts/receivers/sender.ts');
      sender = openSender({ outbox, receivers, now, random, watch });
    },
    async stop(): Promise<void> {
      const ended = sender;
      sender = undefined;
      await ended?.close();
    },
  };
}

interface PlausibleOptions {
  /** ms since the epoch. */
  readonly now: () => number;
  readonly jumpMsMax: number;
}

/**
 * Returns the time for alerts. If the clock jumps, time goes on from before: otherwise every alert would change at once. The new time counts
 * once the service's guard accepts it.
 */
function createPlausibleNow(clock: ClockGuard, { now, jumpMsMax }: PlausibleOptions): () => number {
  const seenMs = clock.last().plausibleMs;
  const own = createClockGuard({ now, ticks: () => performance.now(), seenMs, jumpMsMax });
  return () => {
    const reading = own.check();
    if (reading.state === 'plausible') return reading.plausibleMs;
    const { state, clockMs } = clock.last();
    const isAccepted = state === 'plausible' && Math.abs(clockMs - now()) <= jumpMsMax;
    if (isAccepted) own.accept();
    return own.last().plausibleMs;
  };
}
