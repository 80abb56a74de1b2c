import { isManaged } from '../definitions/source.ts';
import { createRetention, type Retention } from '../retention/retention.ts';
import type { Parts } from './parts.ts';

const RUN_EVERY_MS = 3_600_000;

/** Deletes days that are too old, or too many, from the store of a service: once before it resolves, then every hour. */
export async function startRetention(parts: Parts): Promise<Retention> {
  const { config, core, reserve, metrics, logger, now, startTask } = parts;
  const retention = createRetention({
    engine: core.engine,
    sources: () => core.registry.sources.filter(isManaged),
    now,
    ticks: () => performance.now(),
    storeBytesMax: config.storeBytesMax,
    makeRoom: reserve.free,
    onDropped({ table, day, rows, bytes, reason }) {
      metrics.dayDropped(reason);
      logger.info({ table, day, rows, bytes, reason }, 'a day of events was dropped');
    },
    onStopped(reason) {
      metrics.retentionStopped(reason !== undefined);
      if (reason === undefined) logger.info('retention continues: the clock is plausible');
      else logger.error(reason);
    },
  });
  await startTask({ name: 'retention', everyMs: RUN_EVERY_MS, run: retention.run }).trigger();
  return retention;
}
