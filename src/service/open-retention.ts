import type { Config } from '../config/config.ts';
import { isManaged } from '../definitions/source.ts';
import { readEngineMs } from '../engine/store-state.ts';
import type { Reserve } from '../lib/reserve.ts';
import { clockFile, confirmationFile, reportFile } from '../retention/file.ts';
import { createRetention, type DroppedDay, type Retention } from '../retention/retention.ts';
import { createRetentionSchedule, type RetentionSchedule } from '../retention/schedule.ts';
import type { Core } from './open-core.ts';
import type { Parts } from './parts.ts';

const HOURS_PER_DAY = 24;
const RUN_EVERY_MS = 3_600_000;
const WATCH_EVERY_MS = 5_000;

/** Opens the retention of a store by its settings, for the service and for `tailrace retention`. */
export function openRetention(
  { engine, registry, clock }: Core,
  config: Config,
  { reserve, onDropped }: { reserve: Reserve; onDropped: (day: DroppedDay) => void },
): Retention {
  return createRetention({
    engine,
    sources: () => registry.sources.filter(isManaged),
    clock,
    storeBytesMax: config.storeBytesMax,
    storeBytesMaxBefore: reportFile(config.dataDir).read()?.storeBytesMax ?? 0,
    dropPercentMax: config.retentionDropPercentMax,
    // The days that become due only by time between two runs, at the largest step of the clock that the guard accepts.
    freeDaysMax: 1 + Math.ceil(config.clockJumpHoursMax / HOURS_PER_DAY),
    makeRoom: reserve.free,
    onDropped,
  });
}

/** Deletes days that are too old, or too many, from the store of a service: once before it resolves, then every hour. */
export async function startRetention(parts: Parts): Promise<RetentionSchedule> {
  const { startTask, opened, logger } = parts;
  const schedule = createServiceRetention(parts);
  // Such as on a full disk: the service has stopped cleanly, and the next start compares with an earlier time.
  const reportUnsaved = (error: unknown) => logger.error({ err: error }, 'clock.json could not be written');
  opened.defer(() => schedule.saveClock().catch(reportUnsaved));
  startTask({ name: 'retention-watch', everyMs: WATCH_EVERY_MS, run: schedule.watch });
  await startTask({ name: 'retention', everyMs: RUN_EVERY_MS, run: schedule.run }).trigger();
  return schedule;
}

function createServiceRetention({ config, core, reserve, metrics, logger }: Parts): RetentionSchedule {
  const retention = openRetention(core, config, {
    reserve,
    onDropped(day) {
      metrics.dayDropped(day.reason);
      logger.info(day, 'a day of events was dropped');
    },
  });
  const { dataDir } = config;
  return createRetentionSchedule({
    retention,
    clock: core.clock,
    sources: () => core.registry.sources,
    // The server judges the age of events by this clock; unknown if it does not respond.
    readEngineMs: async () =>
      core.engine.seesEveryWrite ? undefined : await readEngineMs(core.engine).catch(() => undefined),
    files: {
      clock: clockFile(dataDir),
      report: reportFile(dataDir),
      confirmation: confirmationFile(dataDir),
    },
    onClockChange: core.followClock,
    onNotice(notice) {
      if (notice === undefined) logger.info('retention continues, and the clock is plausible');
      else if (notice.stopped.length > 0) logger.error({ stopped: notice.stopped }, notice.message);
      else logger.warn(notice.message);
      metrics.retentionStopped(notice?.stopped ?? []);
    },
    onConfirmed(isAll) {
      if (isAll) logger.info('an operator has confirmed everything that had stopped retention');
      else
        logger.warn(
          'an operator has confirmed only a part of what stops retention, or something else; run "tailrace retention" again',
        );
    },
  });
}
