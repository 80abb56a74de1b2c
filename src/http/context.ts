import type { FastifyBaseLogger } from 'fastify';
import type { CachedQueries } from '../cache/cached.ts';
import type { Config } from '../config/config.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { Metrics } from './metrics.ts';

/** What the routes work with; made by src/service.ts. */
export interface HttpContext {
  readonly config: Config;
  readonly registry: Registry;
  readonly cached: CachedQueries;
  readonly keyring: Keyring;
  readonly metrics: Metrics;
  readonly logger: FastifyBaseLogger;
  /** Why the service may not serve now; `undefined` when it may. */
  readonly notReady: () => string | undefined;
}
