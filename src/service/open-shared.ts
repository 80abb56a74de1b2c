import { createSharedAnswers } from '../cache/shared.ts';
import { findServerAddress } from '../config/clickhouse.ts';
import { openRedis } from '../lib/redis.ts';
import { createThrottle } from '../lib/throttle.ts';
import { createSharedRates } from '../serve/shared-rates.ts';
import type { Parts } from './parts.ts';

const LOG_AGAIN_MS = 60_000;

/** Answers and rates of all replicas, on the Redis of the settings. */
export function openShared({ config, metrics, logger, now }: Parts, secret: Uint8Array) {
  const throttleFailure = createThrottle(LOG_AGAIN_MS, now);
  const throttleRejected = createThrottle(LOG_AGAIN_MS, now);
  const redis = openRedis(config.redisUrl, {
    onUp() {
      metrics.redisUp(true);
      logger.info('Redis is available: answers and rates are shared with the other replicas');
    },
    onDown(error) {
      metrics.redisUp(false);
      logger.warn(
        { err: error },
        'Redis is unavailable: this replica continues with its own answers and rates',
      );
    },
    onFailure(error, isRejected) {
      metrics.redisFailed();
      if (isRejected) throttleFailure(() => logger.warn({ err: error }, 'Redis rejected a command'));
    },
  });
  const { database = '', cluster = '' } = findServerAddress(config) ?? {};
  const answers = createSharedAnswers({
    ...{ redis, secret, now, queryTimeoutMs: config.queryTimeoutMs, onLookup: metrics.sharedLookup },
    store: JSON.stringify([database, cluster]),
    onRejected() {
      metrics.sharedRejected();
      throttleRejected(() => logger.warn('an answer in Redis was not written by a replica: ignored'));
    },
  });
  return {
    answers,
    rates: createSharedRates(redis, secret),
    /** Releases the leases of this replica and closes the connection. */
    async close() {
      await answers.idle();
      redis.close();
    },
  };
}
