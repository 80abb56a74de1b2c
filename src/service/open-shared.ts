import { randomUUID } from 'node:crypto';
import { createSharedFlights } from '../cache/shared/flight.ts';
import { createRedisCache } from '../cache/shared/redis-cache.ts';
import { findServerAddress } from '../config/clickhouse.ts';
import { createBackground } from '../lib/background.ts';
import { openRedis } from '../lib/redis.ts';
import { createThrottle } from '../lib/throttle.ts';
import { createSharedRates } from '../serve/shared-rates.ts';
import type { Parts } from './parts.ts';

const LOG_AGAIN_MS = 60_000;

/** Answers and rates of all replicas, on the Redis of the settings. */
export function openShared({ config, metrics, logger, now }: Parts, secret: Uint8Array) {
  const throttleFailure = createThrottle(LOG_AGAIN_MS, now);
  const throttleRefused = createThrottle(LOG_AGAIN_MS, now);
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
    onFailure(error, isRefusal) {
      metrics.redisFailed();
      if (isRefusal) throttleFailure(() => logger.warn({ err: error }, 'Redis rejected a command'));
    },
  });
  const onRefused = () => {
    metrics.sharedRefused();
    throttleRefused(() => logger.warn('an answer in Redis was not written by a replica: deleted'));
  };
  const background = createBackground();
  const { database = '', cluster = '' } = findServerAddress(config) ?? {};
  const store = JSON.stringify([database, cluster]);
  const cache = createRedisCache({ redis, secret, store, now, createToken: randomUUID, onRefused });
  const { queryTimeoutMs } = config;
  const onLookup = metrics.sharedLookup;
  return {
    flights: createSharedFlights({ shared: cache, background, queryTimeoutMs, onLookup }),
    rates: createSharedRates(redis, secret),
    /** Releases the leases of this replica and closes the connection. */
    async close() {
      await background.idle();
      redis.close();
    },
  };
}
