import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { findOwner } from '../../engine/store-lock.ts';
import { StoppedError } from '../../errors.ts';
import { COMMANDS } from '../../maintenance/socket/protocol.ts';
import { findStore } from '../find-store.ts';
import { readProcess } from '../process-info.ts';
import { callService } from '../service-command.ts';

// Beyond TAILRACE_SHUTDOWN_TIMEOUT_MS: five seconds for a query that does not stop, and some to close files.
const BEYOND_MS = 10_000;
const POLL_EVERY_MS = 50;

export function stopCommand(): Command {
  return new Command('stop')
    .description('Stop the running service, and wait until it has ended.')
    .action(stop);
}

async function stop(): Promise<void> {
  const { config } = findStore();
  const pid = Number(await callService(config, COMMANDS.stop));
  const timeoutMs = config.shutdownTimeoutMs + BEYOND_MS;
  const endMs = performance.now() + timeoutMs;
  while (isRunning(config, pid)) {
    if (performance.now() > endMs)
      throw new StoppedError(
        `the service (pid ${pid}) is stopping and still runs after ${timeoutMs / 1000} s; its log says why`,
      );
    await wait(POLL_EVERY_MS);
  }
  process.stdout.write(`the service (pid ${pid}) has ended\n`);
}

/** Whether the store is locked. Unlike a pid, the lock is also valid if the service runs in another container. */
function isRunning({ dataDir, clickhouseUrl }: Config, pid: number): boolean {
  return clickhouseUrl === '' ? findOwner(dataDir) !== undefined : readProcess(pid) !== undefined;
}
