import { Command } from 'commander';
import { InputError, StoppedError } from '../../errors.ts';
import { COMMANDS } from '../../maintenance/socket/protocol.ts';
import { findStore } from '../find-store.ts';
import { describeResult, type ReloadResult } from '../reload.ts';
import { callService } from '../service-command.ts';

export function reloadCommand(): Command {
  return new Command('reload')
    .description('Reload the definitions of the running service, and print the result.')
    .action(reload);
}

async function reload(): Promise<void> {
  const result = (await callService(findStore().config, COMMANDS.reload)) as ReloadResult; // returned by createReloads
  const lines = describeResult(result);
  if (result.faults.length > 0)
    throw result.isInput ? new InputError(lines) : new StoppedError(lines.join('; '));
  for (const line of lines) process.stdout.write(`${line}\n`);
}
