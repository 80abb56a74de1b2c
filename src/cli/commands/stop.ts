import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import { readConfig } from '../environment.ts';
import { EXIT } from '../exit.ts';
import { readProcess } from '../process-info.ts';
import { getServicePid } from '../service-process.ts';

// What a service may take beyond TAILRACE_SHUTDOWN_TIMEOUT_MS: five seconds for a query that does not stop, and some to close its files.
const BEYOND_MS = 10_000;
const LOOK_EVERY_MS = 50;

export function stopCommand(): Command {
  return new Command('stop')
    .description('Stop the service on the data directory (SIGTERM), and wait until it has ended.')
    .action(stop);
}

async function stop(): Promise<void> {
  const config = readConfig();
  const pid = getServicePid(config);
  process.kill(pid, 'SIGTERM');
  const boundMs = config.shutdownTimeoutMs + BEYOND_MS;
  const endMs = performance.now() + boundMs;
  while (readProcess(pid) !== undefined) {
    if (performance.now() > endMs) {
      process.stderr.write(
        `tailrace: the service (pid ${pid}) was asked to end and still runs after ${boundMs / 1000} s; its log says why\n`,
      );
      process.exitCode = EXIT.failure;
      return;
    }
    await wait(LOOK_EVERY_MS);
  }
  process.stdout.write(`the service (pid ${pid}) has ended\n`);
}
