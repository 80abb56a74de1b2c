import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import { InputError } from '../../errors.ts';
import { readConfig } from '../environment.ts';
import { EXIT } from '../exit.ts';
import { readProcess } from '../process-info.ts';
import { describeResult, findResult, type ReloadResult } from '../reload-result.ts';
import { getServicePid } from '../service-process.ts';

// A reload takes less than a second. One that is asked for during the start waits until the store is open.
const RESULT_MS_MAX = 60_000;
const LOOK_EVERY_MS = 50;

export function reloadCommand(): Command {
  return new Command('reload')
    .description('Reload the definitions of the service on the data directory, and print the result.')
    .action(reload);
}

async function reload(): Promise<void> {
  const config = readConfig();
  const pid = getServicePid(config);
  const sentMs = Date.now();
  process.kill(pid, 'SIGHUP');
  const result = await waitForResult(pid, config.dataDir, sentMs);
  if (typeof result === 'string') {
    process.stderr.write(`tailrace: ${result}\n`);
    process.exitCode = EXIT.failure;
    return;
  }
  const lines = describeResult(result);
  if (result.faults.length > 0 && result.isInput) throw new InputError(lines);
  for (const line of lines) process.stdout.write(`${line} (pid ${pid})\n`);
  if (result.faults.length > 0) process.exitCode = EXIT.failure;
}

/** @returns the result, or why there is none */
async function waitForResult(pid: number, dataDir: string, sentMs: number): Promise<ReloadResult | string> {
  const endMs = performance.now() + RESULT_MS_MAX;
  while (performance.now() < endMs) {
    const result = findResult(dataDir, sentMs);
    if (result !== undefined) return result;
    if (readProcess(pid) === undefined) return `the service (pid ${pid}) has ended without reloading`;
    await wait(LOOK_EVERY_MS);
  }
  return `the service (pid ${pid}) was asked to reload and has not said within ${RESULT_MS_MAX / 1000} s whether it did; its log says more`;
}
