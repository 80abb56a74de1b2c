import type { FastifyBaseLogger } from 'fastify';
import { isManaged } from './definitions/source.ts';
import { createRollupBuilder } from './engine/build-rollups.ts';
import type { Store } from './open-store.ts';

const LOOK_EVERY_MS = 10_000;

/** Adds rollups to stored events in the background, and logs progress. */
export function startRollups({ engine, registry }: Store, logger: FastifyBaseLogger) {
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
  let looking: Promise<void> | undefined;
  const look = () => {
    looking ??= builder
      .tick()
      .catch((error: unknown) => logger.warn({ err: error }, 'the state of rollups could not be read'))
      .finally(() => {
        looking = undefined;
      });
  };
  look();
  const timer = setInterval(look, LOOK_EVERY_MS);
  return {
    /** By source. */
    rollupRowsLeft: () => builder.left,
    async stop() {
      clearInterval(timer);
      await looking;
    },
  };
}
