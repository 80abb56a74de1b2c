import { rmSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import { InputError, StoppedError } from '../../errors.ts';
import { readConfig } from '../environment.ts';
import { readProcess } from '../process-info.ts';
import { describeResult, findResult, type ReloadResult, resultFile } from '../reload.ts';
import { getServicePid } from '../service-process.ts';

// A reload takes less than a second; during the start it waits until the store is open.
const RESULT_MS_MAX = 60_000;
const POLL_EVERY_MS = 50;

export function reloadCommand(): Command {
  return new Command('reload')
    .description('Reload the definitions of the service on the data directory, and print the result.')
    .action(reload);
}

async function reload(): Promise<void> {
  const config = readConfig();
  const { dataDir } = config;
  const pid = getServicePid(config);
  rmSync(resultFile(dataDir), { force: true });
  const sentMs = Date.now();
  process.kill(pid, 'SIGHUP');
  const result = await waitForResult(pid, dataDir, sentMs);
  const lines = describeResult(result);
  if (result.faults.length > 0)
    throw result.isInput ? new InputError(lines) : new StoppedError(lines.join('; '));
  for (const line of lines) process.stdout.write(`${line} (pid ${pid})\n`);
}

/** @throws StoppedError if there is no result */
async function waitForResult(pid: number, dataDir: string, sentMs: number): Promise<ReloadResult> {
  const endMs = performance.now() + RESULT_MS_MAX;
  while (performance.now() < endMs) {
    const result = findResult(dataDir, sentMs);
    if (result === 'unwritten')
      throw new StoppedError(
        `the service (pid ${pid}) could not write the result of the reload to ${resultFile(dataDir)}, as on a full disk; its log has the result`,
      );
    if (result !== undefined) return result;
    if (readProcess(pid) === undefined)
      throw new StoppedError(`the service (pid ${pid}) has ended without reloading`);
    await wait(POLL_EVERY_MS);
  }
  throw new StoppedError(
    `the service (pid ${pid}) received SIGHUP and has not reported a result within ${RESULT_MS_MAX / 1000} s; its log says more`,
  );
}
