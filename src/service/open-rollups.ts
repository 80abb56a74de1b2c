import { isManaged } from '../definitions/source.ts';
import { createRollupBuilder } from '../engine/build-rollups.ts';
import type { Parts } from './parts.ts';

const LOOK_EVERY_MS = 10_000;

/**
 * Adds rollups to stored events in the background, and logs progress.
 *
 * @returns a function that returns the rows without a rollup, by source
 */
export function startRollups({ core: { engine, registry }, logger, startTask }: Parts) {
  const builder = createRollupBuilder({
    engine,
    sources: () => registry.sources.filter(isManaged),
    onNotDropped: (error) =>
      logger.warn({ err: error }, 'an older rollup could not be dropped; trying again'),
    onProgress({ source, rows, left }, state) {
      const percent = Math.floor(100 * (1 - left / Math.max(rows, 1)));
      if (state === 'started')
        logger.info({ source, rows: left }, 'a rollup of stored events is being built');
      if (state === 'running') logger.info({ source, percent }, 'a rollup is being built');
      if (state === 'done') logger.info({ source, rows }, 'a rollup is complete');
      if (state === 'failed')
        logger.error(
          { source, rows: left },
          'a rollup is incomplete until the next start: queries read rows',
        );
    },
  });
  void startTask({ name: 'rollups', everyMs: LOOK_EVERY_MS, run: builder.tick }).trigger();
  return () => builder.left;
}
