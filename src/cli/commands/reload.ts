import { Command } from 'commander';
import { InputError, StoppedError } from '../../errors.ts';
import { COMMANDS } from '../../maintenance/socket/protocol.ts';
import { readConfig } from '../environment.ts';
import { describeResult, type ReloadResult } from '../reload.ts';
import { callService } from '../service-command.ts';

export function reloadCommand(): Command {
  return new Command('reload')
    .description('Reload the definitions of the service on the data directory, and print the result.')
    .action(reload);
}

async function reload(): Promise<void> {
  const result = (await callService(readConfig(), COMMANDS.reload)) as ReloadResult; // returned by createReloads
  const lines = describeResult(result);
  if (result.faults.length > 0)
    throw result.isInput ? new InputError(lines) : new StoppedError(lines.join('; '));
  for (const line of lines) process.stdout.write(`${line}\n`);
}
