import { randomUUID } from 'node:crypto';
import { createEvaluate } from '../alerts/evaluate.ts';
import { listFiring } from '../alerts/evaluation.ts';
import { createEvaluator, type EvaluatorOptions } from '../alerts/evaluator.ts';
import { createFindLink } from '../alerts/message.ts';
import { createOutbox } from '../alerts/outbox.ts';
import { createSender, type SenderEvent } from '../alerts/receivers/sender.ts';
import type { Alert } from '../definitions/alert.ts';
import type { Registry } from '../definitions/registry.ts';
import { createRunner } from '../query/run.ts';
import { createAlertMetrics } from '../telemetry/alert-metrics.ts';
import type { Context } from './context.ts';
import { NO_RECEIVERS_FILE } from './operator-files.ts';

const HOUR_MS = 3_600_000;
const TICK_MS = 250;
const NOT_STORED =
  'alerts are not evaluated: their states cannot be stored; if the disk is full, make room, else see the log';
const HISTORY_MS = 90 * 24 * HOUR_MS;
// /ready names a receiver after so long.
const FAILING_MS = 600_000;
// After so long, another replica takes over.
const LEASE_MS = { min: 1_000, max: 3_000 };
// One process owns the data directory, and so the store in it; it takes its own lease again.
const OWN = { owner: 'the service', leaseMs: () => 60_000 };

export type ServedAlerts = Awaited<ReturnType<typeof openAlerts>>;

/**
 * Evaluates the alerts and sends their messages until the service closes.
 * @returns what tests of alerts need, and why alerts are not evaluated or sent
 */
export async function openAlerts(context: Context) {
  const { config, control, core, files, metrics, logger, now, random, startTask, opened } = context;
  const { receivers } = files;
  const { engine, registry } = core;
  const evaluate = createEvaluate({ registry, run: createRunner(engine, now) });
  const states = createStateWatch(logger);
  const isAlone = config.controlUrl === '' && config.clickhouseUrl === '';
  const findLink = createFindLink(config.publicUrl);
  const measured = createAlertMetrics(metrics.registry, {
    now,
    isEvaluating: () => evaluator.isLeader(),
    readFiring: () =>
      registry.alerts.map((alert) => {
        const firing = evaluator.instancesOf(alert.id).filter(({ phase }) => phase === 'firing');
        return { ...nameServed(registry, alert), instances: firing.length };
      }),
    readOutbox: control.alerts.readOutbox,
    receivers: () => [...receivers.names()],
  });
  const createSeries = () => receivers.names().forEach(measured.receiverKnown);
  receivers.onTaken(createSeries);
  const ticks = () => performance.now();
  const outbox = createOutbox(control.alerts, now);
  const sender = createSender({
    ...{ outbox, receivers: receivers.current, now, ticks, random, watch },
    listFiring: (receiver) => listFiring(control.alerts, { receiver, nowMs: now(), findLink }),
  });
  function watch({ kind, ...event }: SenderEvent): void {
    if (kind !== 'outbox_failed') measured.tried(event.receiver, kind);
    const [level, text] = SENT_LOG[kind];
    logger[level](event, text);
  }
  const evaluator = createEvaluator({
    async evaluate(alert, at) {
      const judged = await evaluate(alert, at);
      measured.evaluated(nameServed(registry, alert), judged.outcome.kind === 'failed');
      return judged;
    },
    store: control.alerts,
    alerts: () => registry.alerts,
    now,
    ...(isAlone ? OWN : { owner: randomUUID(), leaseMs: () => leaseMs(registry.alerts) }),
    ticks,
    receivers: receivers.names,
    findLink,
    onChange: createChangeLog(logger),
    onEvaluated: (_alert, error) => (error === undefined ? states.stored() : states.failed(error)),
  });
  const { length: alerts } = registry.alerts;
  if (alerts > 0 && config.receiversFile === '') logger.warn({ alerts }, NO_RECEIVERS_FILE);
  opened.defer(evaluator.close);
  opened.defer(sender.stop);
  async function renew(): Promise<void> {
    try {
      await evaluator.renew();
      // If it has the lease, the next evaluation says whether states can be stored.
      if (!evaluator.isLeader() || registry.alerts.length === 0) states.stored();
    } catch (error) {
      if (registry.alerts.length > 0) states.failed(error);
    }
  }
  const send = () => (evaluator.isLeader() ? sender.tick() : sender.stop()); // two senders would send messages twice
  startTask({ name: 'alert-lease', everyMs: TICK_MS, run: renew });
  startTask({ name: 'alerts', everyMs: TICK_MS, run: evaluator.tick });
  startTask({ name: 'alert-messages', everyMs: TICK_MS, run: send });
  startTask({
    name: 'alert-history',
    everyMs: HOUR_MS,
    async run() {
      if (!evaluator.isLeader()) return;
      await control.alerts.trim(now() - HISTORY_MS);
      if (config.receiversFile === '') return; // messages wait for one
      for await (const { stale, reason } of outbox.findStale(receivers.names())) {
        if (stale === undefined) continue;
        await outbox.giveUp(stale, reason);
        const { id, receiver, message } = stale;
        watch({ kind: 'given_up', receiver, alert: message.alert, id, reason });
      }
    },
  });
  return {
    ...{ evaluate, receivers: receivers.names, findLink },
    findProblem(): string | undefined {
      const failing = measured.failingSince(now() - FAILING_MS).join(', ');
      const unsent = `messages of alerts have failed for ten minutes, to ${failing}; see the log`;
      return states.findProblem() ?? (failing === '' ? undefined : unsent);
    },
  };
}

/** The names of an alert and its endpoint, which the alert may name by its UUID. */
function nameServed(registry: Pick<Registry, 'findEndpoint'>, { name, endpoint }: Alert) {
  return { name, endpoint: registry.findEndpoint(endpoint)?.name ?? endpoint };
}

/** Logs how many instances of an alert have changed: their labels may be secret. */
function createChangeLog(logger: Context['logger']): NonNullable<EvaluatorOptions['onChange']> {
  return (alert, events, messages) => {
    const changes = Map.groupBy(events, ({ change }) => change);
    const counts = [...changes].map(([change, { length }]) => [change, length]);
    logger.info({ alert, ...Object.fromEntries(counts), messages }, 'an alert changed');
  };
}

/** Notes whether the states of alerts can be stored. Logs once when they cannot be, and when they are again. */
function createStateWatch(logger: Context['logger']) {
  let isFailing = false;
  return {
    failed(error: unknown) {
      if (!isFailing) logger.error({ err: error }, NOT_STORED);
      isFailing = true;
    },
    stored() {
      if (isFailing) logger.info('alerts are evaluated again');
      isFailing = false;
    },
    /** For `/ready`, so without the cause. */
    findProblem: () => (isFailing ? NOT_STORED : undefined),
  };
}

/** Returns the shortest interval within the bounds, so that another replica takes over within two intervals. */
function leaseMs(alerts: readonly Alert[]): number {
  return alerts.reduce((ms, { everyMs }) => Math.max(LEASE_MS.min, Math.min(ms, everyMs)), LEASE_MS.max);
}

const SENT_LOG = {
  sent: ['info', 'a message of an alert was sent'],
  failed: ['warn', 'a message of an alert could not be sent; trying again later'],
  outbox_failed: ['warn', 'the messages of alerts cannot be read or written; trying again'],
  given_up: ['error', 'a message of an alert was given up'],
} as const;
