import { randomUUID } from 'node:crypto';
import { createEvaluate } from '../alerts/evaluate.ts';
import { createEvaluator } from '../alerts/evaluator.ts';
import { createFindLink } from '../alerts/message.ts';
import type { TestCommandOptions } from '../alerts/test-command.ts';
import type { Alert } from '../definitions/alert.ts';
import type { ControlStore } from '../keys/control-store.ts';
import { type ClockGuard, createClockGuard } from '../lib/clock-guard.ts';
import { createThrottle } from '../lib/throttle.ts';
import { createRunner } from '../query/run.ts';
import { createAlertMetrics } from '../telemetry/alert-metrics.ts';
import { nameServed, readAlerts } from './alert-readings.ts';
import { createSending } from './open-sending.ts';
import type { Parts } from './parts.ts';
import { NO_RECEIVERS_FILE, type Receivers } from './receivers.ts';

const HOUR_MS = 3_600_000;
const TICK_MS = 250;
const LOG_AGAIN_MS = 60_000;
const HISTORY_MS = 90 * 24 * HOUR_MS;
// After so long, another replica takes over.
const LEASE_MS = { min: 1_000, max: 3_000 };
// One process owns the data directory, and so the store in it; it takes its own lease again.
const OWN = { owner: 'the service', leaseMs: () => 60_000 };

/** Evaluates the alerts and sends their messages until the service closes. @returns what `tailrace alerts test` needs */
export async function openAlerts(
  parts: Parts,
  control: ControlStore,
  receivers: Receivers,
): Promise<TestCommandOptions> {
  const { config, core, metrics, logger, now, startTask, opened } = parts;
  const { engine, registry, clock } = core;
  const engineNow = () => clock.correctedMs() ?? Date.now();
  const evaluate = createEvaluate({ ...config, registry, run: createRunner(engine, now, engineNow) });
  const throttle = createThrottle(LOG_AGAIN_MS, now);
  const isAlone = config.controlUrl === '' && config.clickhouseUrl === '';
  const plausibleNow = createPlausibleNow(clock, { now, jumpMsMax: config.clockJumpHoursMax * HOUR_MS });
  const findLink = createFindLink(config.publicUrl);
  const measured = createAlertMetrics(
    metrics.registry,
    readAlerts({
      registry,
      store: control.alerts,
      evaluator: () => evaluator,
      receivers: () => receivers.current().values(),
      now,
    }),
  );
  const createSeries = () => receivers.names().forEach(measured.receiverKnown);
  createSeries();
  receivers.onTaken(createSeries);
  const sending = createSending(parts, { control, receivers, tried: measured.tried });
  const evaluator = createEvaluator({
    async evaluate(alert, at) {
      const judged = await evaluate(alert, at);
      measured.evaluated(nameServed(registry, alert), judged.outcome.kind === 'failed');
      return judged;
    },
    ...{ store: control.alerts, alerts: () => registry.alerts, now: plausibleNow },
    ...(isAlone ? OWN : { owner: randomUUID(), leaseMs: () => leaseMs(registry.alerts) }),
    ticks: () => performance.now(),
    receivers: receivers.names,
    findLink,
    onMessages: sending.wake,
    onEvaluated(alert, error) {
      if (error === undefined) return;
      const text = 'the result of an alert could not be stored; it is evaluated again';
      throttle(() => logger.error({ err: error, alert }, text));
    },
  });
  warnWithoutReceivers(parts);
  opened.defer(evaluator.close);
  opened.defer(sending.stop);
  startTask({ name: 'alert-lease', everyMs: TICK_MS, run: evaluator.renew });
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
  };
}

function warnWithoutReceivers({ config, core: { registry }, logger }: Parts): void {
  const { length: alerts } = registry.alerts;
  if (alerts > 0 && config.receiversFile === '') logger.warn({ alerts }, NO_RECEIVERS_FILE);
}

/** Returns the shortest interval within the bounds, so that another replica takes over within two intervals. */
function leaseMs(alerts: readonly Alert[]): number {
  return alerts.reduce((ms, { everyMs }) => Math.max(LEASE_MS.min, Math.min(ms, everyMs)), LEASE_MS.max);
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
