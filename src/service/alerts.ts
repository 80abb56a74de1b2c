import { randomUUID } from 'node:crypto';
import { createEvaluate } from '../alerts/evaluate.ts';
import { listFiring, readStored } from '../alerts/evaluation.ts';
import { createEvaluator } from '../alerts/evaluator.ts';
import { createFindLink } from '../alerts/message.ts';
import { createOutbox, NO_RECEIVER, TOO_MANY, WAITING_MAX } from '../alerts/outbox.ts';
import type { Sender, SenderEvent, SenderOptions } from '../alerts/receivers/sender.ts';
import type { AlertTestParts } from '../alerts/replay.ts';
import type { Alert } from '../definitions/alert.ts';
import type { Registry } from '../definitions/registry.ts';
import type { AlertStore } from '../keys/alerts/alert-store.ts';
import { createThrottle } from '../lib/task.ts';
import { createRunner } from '../query/run.ts';
import { createAlertMetrics } from '../telemetry/alert-metrics.ts';
import type { Context } from './context.ts';
import { NO_RECEIVERS_FILE } from './operator-files.ts';

const HOUR_MS = 3_600_000;
// A clock that jumps further is wrong, or was.
const JUMP_MS_MAX = 24 * HOUR_MS;
const TICK_MS = 250;
const NOT_STORED =
  'alerts are not evaluated: their states cannot be stored; if the disk is full, make room, else see the log';
const HISTORY_MS = 90 * 24 * HOUR_MS;
// After so long, another replica takes over.
const LEASE_MS = { min: 1_000, max: 3_000 };
// One process owns the data directory, and so the store in it; it takes its own lease again.
const OWN = { owner: 'the service', leaseMs: () => 60_000 };

/** What `tailrace alerts test` needs, and why alerts are not evaluated. */
export type ServedAlerts = AlertTestParts & Pick<ReturnType<typeof createStateWatch>, 'findProblem'>;

/** Evaluates the alerts and sends their messages until the service closes. */
export async function openAlerts(context: Context): Promise<ServedAlerts> {
  const { config, control, core, files, metrics, logger, now, startTask, opened } = context;
  const { receivers } = files;
  const { engine, registry } = core;
  const evaluate = createEvaluate({ registry, run: createRunner(engine, now) });
  const states = createStateWatch(logger, now);
  const isAlone = config.controlUrl === '' && config.clickhouseUrl === '';
  const plausibleNow = createPlausibleNow(now, () => performance.now());
  const findLink = createFindLink(config.publicUrl);
  const measured = createAlertMetrics(metrics.registry, {
    now,
    isEvaluating: () => evaluator.isLeader(),
    readFiring: () => readFiring(registry, control.alerts),
    readOutbox: control.alerts.readOutbox,
    receivers: () => [...receivers.names()],
  });
  const createSeries = () => receivers.names().forEach(measured.receiverKnown);
  createSeries();
  receivers.onTaken(createSeries);
  const sending = createSending(context, {
    tried: measured.tried,
    listFiring: (receiver) => listFiring(control.alerts, { receiver, nowMs: plausibleNow(), findLink }),
  });
  const evaluator = createEvaluator({
    async evaluate(alert, at) {
      const judged = await evaluate(alert, at);
      measured.evaluated(nameServed(registry, alert), judged.outcome.kind === 'failed');
      return judged;
    },
    store: control.alerts,
    alerts: () => registry.alerts,
    now: plausibleNow,
    ...(isAlone ? OWN : { owner: randomUUID(), leaseMs: () => leaseMs(registry.alerts) }),
    ticks: () => performance.now(),
    receivers: receivers.names,
    findLink,
    onMessages: sending.wake,
    onEvaluated: (_alert, error) => (error === undefined ? states.stored() : states.failed(error)),
  });
  warnWithoutReceivers(context);
  opened.defer(evaluator.close);
  opened.defer(sending.stop);
  async function renew(): Promise<void> {
    try {
      await evaluator.renew();
      // If it has the lease, the next evaluation says whether states can be stored.
      if (!evaluator.isLeader() || registry.alerts.length === 0) states.stored();
    } catch (error) {
      if (registry.alerts.length > 0) states.failed(error);
    }
  }
  startTask({ name: 'alert-lease', everyMs: TICK_MS, run: renew });
  startTask({ name: 'alerts', everyMs: TICK_MS, run: evaluator.tick });
  startTask({
    name: 'alert-messages',
    everyMs: TICK_MS,
    run: () => (evaluator.isLeader() ? sending.start() : sending.stop()),
  });
  startTask({
    name: 'alert-history',
    everyMs: HOUR_MS,
    async run() {
      if (!evaluator.isLeader()) return;
      await control.alerts.trim(plausibleNow() - HISTORY_MS);
      await sending.clean();
    },
  });
  return {
    registry,
    evaluate,
    store: control.alerts,
    receivers: receivers.names,
    findLink,
    now: plausibleNow,
    findProblem: states.findProblem,
  };
}

/** The names of an alert and its endpoint, which the alert may name by its UUID. */
function nameServed(registry: Pick<Registry, 'findEndpoint'>, { name, endpoint }: Alert) {
  return { name, endpoint: registry.findEndpoint(endpoint)?.name ?? endpoint };
}

async function readFiring(registry: Pick<Registry, 'alerts' | 'findEndpoint'>, store: AlertStore) {
  const states = await store.readStates();
  return registry.alerts.map((alert) => {
    const text = states.get(alert.id);
    const instances = text === undefined ? [] : Object.values(readStored(text).state.instances);
    const firing = instances.filter(({ phase }) => phase === 'firing');
    return { ...nameServed(registry, alert), instances: firing.length };
  });
}

/** Notes whether the states of alerts can be stored. Logs once when they cannot be, and when they are again. */
function createStateWatch(logger: Context['logger'], now: () => number) {
  const throttle = createThrottle(now);
  let isFailing = false;
  let isLogged = false;
  return {
    failed(error: unknown) {
      if (!isFailing)
        throttle(() => {
          isLogged = true;
          logger.error({ err: error }, NOT_STORED);
        });
      isFailing = true;
    },
    stored() {
      if (isLogged) logger.info('alerts are evaluated again');
      isFailing = isLogged = false;
    },
    /** For `/ready`, so without the cause. */
    findProblem: () => (isFailing ? NOT_STORED : undefined),
  };
}

function warnWithoutReceivers({ config, core: { registry }, logger }: Context): void {
  const { length: alerts } = registry.alerts;
  if (alerts > 0 && config.receiversFile === '') logger.warn({ alerts }, NO_RECEIVERS_FILE);
}

/** Returns the shortest interval within the bounds, so that another replica takes over within two intervals. */
function leaseMs(alerts: readonly Alert[]): number {
  return alerts.reduce((ms, { everyMs }) => Math.max(LEASE_MS.min, Math.min(ms, everyMs)), LEASE_MS.max);
}

// A machine that slept, or whose clock was set right, is believed after this long.
const DOUBTED_MS = HOUR_MS;

/**
 * Returns the time for alerts. If the clock jumps, time goes on from before for an hour: otherwise every alert would
 * change at once, even if the clock is soon set right.
 */
function createPlausibleNow(now: () => number, ticks: () => number): () => number {
  let seen = { ms: now(), ticks: ticks() };
  let doubtedTicks: number | undefined;
  return () => {
    const reading = { ms: now(), ticks: ticks() };
    const expectedMs = seen.ms + reading.ticks - seen.ticks;
    const isJump = Math.abs(reading.ms - expectedMs) > JUMP_MS_MAX;
    doubtedTicks = isJump ? (doubtedTicks ?? reading.ticks) : undefined;
    if (doubtedTicks !== undefined && reading.ticks - doubtedTicks < DOUBTED_MS) return expectedMs;
    seen = reading;
    return reading.ms;
  };
}

/** Sends messages of alerts between `start` and `stop`. */
interface Sending {
  /** Sends what was stored. */
  wake(): void;
  /** Does nothing if it was started. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Unless it is stopped: gives up the messages to receivers that are gone, and the oldest to one with too many. */
  clean(): Promise<void>;
}

interface SendingOptions extends Pick<SenderOptions, 'listFiring'> {
  /** Called after each try to send a message. */
  readonly tried: (receiver: string, outcome: Exclude<SenderEvent['kind'], 'outbox_failed'>) => void;
}

/** Two senders would send messages twice, so only the process that evaluates starts it. */
function createSending(
  { config, control, files: { receivers }, now, random, logger }: Context,
  { listFiring, tried }: SendingOptions,
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
    const throttle = throttles.get(receiver) ?? createThrottle(now);
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
