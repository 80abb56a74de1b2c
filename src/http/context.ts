import type { FastifyBaseLogger } from 'fastify';
import type { CachedQueries } from '../cache/cached.ts';
import type { CacheStore } from '../cache/store.ts';
import type { Config } from '../config/config.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Engine } from '../engine/engine.ts';
import type { Committer } from '../ingest/committer.ts';
import type { Receive } from '../ingest/receive.ts';
import type { RecordRequest } from '../ingest/request-recorder.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { Deletions } from '../maintenance/deletion/deletions.ts';
import type { Sandbox } from '../query/sandbox/sandbox.ts';
import type { Metrics } from './metrics.ts';
import type { SharedRates } from './shared-rates.ts';
import type { TlsContext } from './tls.ts';
import type { Traffic } from './traffic.ts';
import type { Notice } from './view.ts';

/** What the routes work with; made by src/service.ts. */
export interface HttpContext {
  readonly config: Config;
  /** `undefined`: the service speaks HTTP without TLS. */
  readonly tls: TlsContext | undefined;
  readonly registry: Registry;
  readonly cached: CachedQueries;
  readonly sandbox: Sandbox;
  readonly keyring: Keyring;
  readonly receive: Receive;
  /** Where each served request is recorded; `undefined` where that is off. */
  readonly record: RecordRequest | undefined;
  readonly metrics: Metrics;
  /** Rates that hold over all replicas; `undefined` where each holds its own. */
  readonly sharedRates: SharedRates | undefined;
  /** What the console shows beside the definitions. */
  readonly traffic: Traffic;
  readonly engine: Engine;
  readonly cache: CacheStore;
  readonly committer: Committer;
  readonly deletions: Deletions;
  /** Tailrace's own. */
  readonly version: string;
  readonly logger: FastifyBaseLogger;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Why the service may not serve now; `undefined` when it may. */
  readonly notReady: () => string | undefined;
  /** What an operator has to see to, while calls are served all the same. */
  readonly readNotices: () => Promise<readonly Notice[]>;
}
