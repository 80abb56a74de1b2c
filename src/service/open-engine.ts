import { join, resolve } from 'node:path';
import { findServerAddress } from '../config/clickhouse.ts';
import type { Config } from '../config/config.ts';
import { type EmbeddedOptions, openEmbeddedEngine } from '../engine/embedded/embedded.ts';
import type { Engine } from '../engine/engine.ts';
import type { ServerOptions } from '../engine/server/server.ts';

/** Callbacks for events of the open engine: those of a server, or of the embedded engine. */
export type EngineWatch = Pick<ServerOptions, 'onReach'> & Pick<EmbeddedOptions, 'onRestart' | 'onSuspect'>;

/**
 * Bounds of the fair queue, beyond which a query is rejected with 503: its answer would come too late. So many that a page with many panels
 * waits, and so few for a key or a token that others find room.
 */
const QUEUE = { queueMax: 1_000, queuePerLaneMax: 100, queuePerTokenMax: 20 };
const QUEUE_TIMEOUT_MS = 5_000;
// An answer is held whole, in the engine and in this process; longer ones are read page by page.
const RESULT_BYTES_MAX = 64 * 1024 * 1024;
// Of the engine's memory: a query beyond it fails before it takes what others need.
const QUERY_MEMORY_SHARE = 1 / 4;

/** Opens the engine of the settings: that of a ClickHouse server, or the embedded one on their data directory. */
export async function openEngine(config: Config, watch: EngineWatch = {}): Promise<Engine> {
  const options = {
    readers: config.readers,
    ...QUEUE,
    queueTimeoutMs: config.queueTimeoutMs ?? QUEUE_TIMEOUT_MS,
    limits: {
      timeoutMs: config.queryTimeoutMs,
      memoryBytesMax:
        config.queryMemoryBytesMax ?? Math.floor(config.engineMemoryBytesMax * QUERY_MEMORY_SHARE),
      resultBytesMax: config.resultBytesMax ?? RESULT_BYTES_MAX,
    },
  };
  const address = findServerAddress(config);
  if (address !== undefined) {
    const { openServerEngine } = await import('../engine/server/server.ts'); // its client is loaded only if it is used
    return await openServerEngine({ ...options, address, cluster: address.cluster, ...watch });
  }
  const { dataDir, engineMemoryBytesMax: memoryBytesMax, engineEnv: env } = config;
  const backupDir = findBackupDir(config);
  return await openEmbeddedEngine({ ...options, dataDir, backupDir, memoryBytesMax, env, ...watch });
}

/** Returns the absolute path of the folder of backups. */
export function findBackupDir({ backupDir, dataDir }: Pick<Config, 'backupDir' | 'dataDir'>): string {
  return resolve(backupDir || join(dataDir, 'backups'));
}
