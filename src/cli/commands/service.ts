import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import { InputError, StoppedError } from '../../errors.ts';
import { findLocalService, findStore, getLocalService } from '../local-service.ts';
import { describeResult, type ReloadResult } from '../reload.ts';
import { callRemote } from '../remote.ts';

export function reloadCommand(): Command {
  return new Command('reload')
    .description('Reload the definitions of the running service, and print the result.')
    .action(reload);
}

export function stopCommand(): Command {
  return new Command('stop')
    .description('Stop the running service, and wait until it has ended.')
    .action(stop);
}

async function reload(): Promise<void> {
  const service = await getLocalService();
  const result = (await callRemote(service, '/api/local/reload', { body: {} })) as ReloadResult; // of createReloads
  const lines = describeResult(result);
  if (result.faults.length > 0)
    throw result.isInput ? new InputError(lines) : new StoppedError(lines.join('; '));
  for (const line of lines) process.stdout.write(`${line}\n`);
}

// Ten seconds for running requests (service/service.ts), five for a query that does not stop, and some to close files.
const STOP_MS_MAX = 20_000;
const POLL_EVERY_MS = 50;

/** Not by a signal: a pid of another container's service would be that of some other process here. */
async function stop(): Promise<void> {
  const config = findStore();
  const service = await getLocalService(config);
  const { pid } = (await callRemote(service, '/api/local/stop', { body: {} })) as { pid: number };
  const endMs = performance.now() + STOP_MS_MAX;
  // It ends its announcement once the store is released.
  while (findLocalService(config)?.key === service.key) {
    if (performance.now() > endMs)
      throw new StoppedError(
        `the service (pid ${pid}) is stopping and still runs after ${STOP_MS_MAX / 1000} s; its log says why`,
      );
    await wait(POLL_EVERY_MS);
  }
  process.stdout.write(`the service (pid ${pid}) has ended\n`);
}
