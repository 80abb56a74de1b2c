import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import { StoppedError } from '../../errors.ts';
import { readConfig } from '../environment.ts';
import { readProcess } from '../process-info.ts';
import { getServicePid } from '../service-process.ts';

// Beyond TAILRACE_SHUTDOWN_TIMEOUT_MS: five seconds for a query that does not stop, and some to close files.
const BEYOND_MS = 10_000;
const POLL_EVERY_MS = 50;

export function stopCommand(): Command {
  return new Command('stop')
    .description('Stop the service on the data directory (SIGTERM), and wait until it has ended.')
    .action(stop);
}

async function stop(): Promise<void> {
  const config = readConfig();
  const pid = getServicePid(config);
  process.kill(pid, 'SIGTERM');
  const timeoutMs = config.shutdownTimeoutMs + BEYOND_MS;
  const endMs = performance.now() + timeoutMs;
  while (readProcess(pid) !== undefined) {
    if (performance.now() > endMs)
      throw new StoppedError(
        `the service (pid ${pid}) received SIGTERM and still runs after ${timeoutMs / 1000} s; its log says why`,
      );
    await wait(POLL_EVERY_MS);
  }
  process.stdout.write(`the service (pid ${pid}) has ended\n`);
}
