import type { Config } from '../config/config.ts';
import { findOwner, lockFile } from '../engine/store-lock.ts';
import { InputError } from '../errors.ts';
import { hasOpen } from './process-info.ts';

/**
 * The process of the service that runs on a data directory. It is never a guess: the lock of the directory is held, and the process has
 * the lock's file open. A number that another process has got since, or that counts in another container, does not.
 *
 * @throws InputError when no service runs there, or none that can be signalled from here
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
  const [, pid] = /^tailrace serve \(pid (\d+)\)$/.exec(owner) ?? [];
  if (pid === undefined)
    throw new InputError([`data directory ${dataDir} is in use by ${owner}, which is not a service`]);
  if (!hasOpen(Number(pid), lockFile(dataDir)))
    throw new InputError([
      `data directory ${dataDir} is in use by ${owner}, which cannot be seen from here; run this as the same user, and in the same container`,
    ]);
  return Number(pid);
}
