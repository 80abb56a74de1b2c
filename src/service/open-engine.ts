import { findServerAddress } from '../config/clickhouse.ts';
import type { Config } from '../config/config.ts';
import { type EmbeddedOptions, openEmbeddedEngine } from '../engine/embedded/embedded.ts';
import type { Engine } from '../engine/engine.ts';
import type { ServerOptions } from '../engine/server/server.ts';

/** Callbacks for events of the open engine: those of a server, or of the embedded engine. */
export type EngineWatch = Pick<ServerOptions, 'onReach'> & Pick<EmbeddedOptions, 'onRestart' | 'onSuspect'>;

/** Opens the engine of the settings: that of a ClickHouse server, or the embedded one on their data directory. */
export async function openEngine(config: Config, watch: EngineWatch = {}): Promise<Engine> {
  const options = {
    readers: config.readers,
    queueMax: config.queryQueueMax,
    queuePerLaneMax: config.queryQueuePerKeyMax,
    queuePerTokenMax: config.queryQueuePerTokenMax,
    queueTimeoutMs: config.queryQueueTimeoutMs,
    limits: {
      timeoutMs: config.queryTimeoutMs,
      memoryBytesMax: config.queryMemoryBytesMax,
      resultBytesMax: config.resultBytesMax,
    },
  };
  const address = findServerAddress(config);
  if (address !== undefined) {
    const { openServerEngine } = await import('../engine/server/server.ts'); // its client is loaded only if it is used
    return await openServerEngine({ ...options, address, cluster: config.cluster, ...watch });
  }
  const { dataDir, engineMemoryBytesMax: memoryBytesMax, engineEnv: env } = config;
  return await openEmbeddedEngine({ ...options, dataDir, memoryBytesMax, env, ...watch });
}
