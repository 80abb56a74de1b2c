import type { FastifyBaseLogger } from 'fastify';
import type { Config } from './config/config.ts';
import { isManaged } from './definitions/source.ts';
import type { Engine } from './engine/engine.ts';
import { readEngineMs } from './engine/store-state.ts';
import { createRetention, type DroppedDay, type Retention } from './ingest/retention.ts';
import { clockFile, confirmationFile, reportFile } from './ingest/retention-file.ts';
import { type RetentionSchedule, scheduleRetention } from './ingest/retention-schedule.ts';
import type { ClockGuard } from './lib/clock-guard.ts';
import type { Store } from './open-store.ts';
import type { Metrics } from './telemetry/metrics.ts';

const HOURS_PER_DAY = 24;

/** What the service and `tailrace retention` have in common: retention of a store by its settings. */
export function openRetention(
  { engine, registry, clock }: Store,
  config: Config,
  onDropped: (day: DroppedDay) => void,
): Retention {
  return createRetention({
    engine,
    sources: () => registry.sources.filter(isManaged),
    clock,
    storeBytesMax: config.storeBytesMax,
    storeBytesMaxBefore: reportFile(config.dataDir).read()?.storeBytesMax ?? 0,
    dropPercentMax: config.retentionDropPercentMax,
    // As many as become due by time alone between two runs that the clock guard lets pass.
    freeDaysMax: 1 + Math.ceil(config.clockJumpHoursMax / HOURS_PER_DAY),
    onDropped,
  });
}

interface RetentionParts {
  readonly config: Config;
  readonly store: Store;
  readonly metrics: Metrics;
  readonly logger: FastifyBaseLogger;
}

/** Days that are too old, or too many, leave the store of a service. */
export function createServiceRetention(parts: RetentionParts): RetentionSchedule {
  const { config, store, metrics, logger } = parts;
  const retention = openRetention(store, config, (day) => {
    metrics.dayDropped(day.reason);
    logger.info(day, 'a day of events was dropped');
  });
  const { dataDir } = config;
  return scheduleRetention({
    retention,
    clock: store.clock,
    sources: () => store.registry.sources,
    readEngineMs: () => askEngineMs(store.engine),
    files: {
      clock: clockFile(dataDir),
      report: reportFile(dataDir),
      confirmation: confirmationFile(dataDir),
    },
    onClockChange: store.followClock,
    onNotice(notice) {
      if (notice === undefined) logger.info('retention goes on, and the clock is plausible');
      else if (notice.stopped.length > 0) logger.error({ stopped: notice.stopped }, notice.message);
      else logger.warn(notice.message);
      metrics.retentionStopped(notice?.stopped ?? []);
    },
    onConfirmed(isAll) {
      if (isAll) logger.info('an operator has confirmed what retention had stopped for');
      else logger.warn('what an operator has confirmed is not, or not all, that retention has stopped for');
    },
    onError: (error) => logger.error({ err: error }, 'retention could not be enforced or noted down'),
  });
}

/** That of a server, which judges there how old events are; one that does not answer has no say. */
async function askEngineMs(engine: Engine): Promise<number | undefined> {
  return engine.seesEveryWrite ? undefined : await readEngineMs(engine).catch(() => undefined);
}

/** The time by which the age of events is judged, ms since the epoch: `now`, unless the clock is known to have jumped ahead. */
export function ageAt(clock: ClockGuard, now: () => number): number {
  const { state, plausibleMs } = clock.last();
  return state === 'ahead' ? plausibleMs : now();
}
