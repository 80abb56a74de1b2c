import type { Config } from '../config/config.ts';
import { findOwner, lockFile } from '../engine/store-lock.ts';
import { InputError } from '../errors.ts';
import { hasOpen } from './process-info.ts';

/**
 * Returns the pid of the service that runs on a data directory. The lock of the directory is held, and the process has its file open,
 * so the pid is never that of an unrelated process.
 *
 * @throws InputError if no service runs there, or if this process cannot signal it
 */
export function getServicePid({ dataDir, clickhouseUrl }: Config): number {
  if (clickhouseUrl !== '')
    throw new InputError([
      'CLICKHOUSE_URL is set, and services on a ClickHouse server hold no data directory; send SIGHUP or SIGTERM to the process itself',
    ]);
  const owner = findOwner(dataDir);
  if (owner === undefined)
    throw new InputError([
      `no service runs on data directory ${dataDir}; set TAILRACE_DATA_DIR to the one of the service`,
    ]);
  const [, pid] = /^tailrace (?:serve|dev) \(pid (\d+)\)$/.exec(owner) ?? [];
  if (pid === undefined)
    throw new InputError([`data directory ${dataDir} is in use by ${owner}, which is not a service`]);
  if (!hasOpen(Number(pid), lockFile(dataDir)))
    throw new InputError([
      `data directory ${dataDir} is in use by ${owner}, which cannot be seen from here; run this as the same user, and in the same container`,
    ]);
  return Number(pid);
}
