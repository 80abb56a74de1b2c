import { Command, InvalidArgumentError } from 'commander';
import type { AlertTest } from '../../alerts/replay.ts';
import { InputError } from '../../errors.ts';
import { describeRemoteTest, describeReplay, describeTest } from '../alerts/describe.ts';
import { testRemoteAlert } from '../alerts/remote-alerts.ts';
import { runAlertTest } from '../alerts/test-alert.ts';
import { stopSignal } from '../environment.ts';
import { toPrintable } from '../format.ts';
import { findNoService, findStore } from '../local-service.ts';
import { parseDuration } from '../options.ts';
import { addRemoteOptions, findRemote, type RemoteOptions } from '../remote.ts';

export function alertsCommand(): Command {
  const alerts = new Command('alerts').description('Try alerts.');
  const test = alerts
    .command('test')
    .description('Send one message marked as a test; with --since, print when the alert would have fired.')
    .argument('<name>', 'name or UUID of the alert')
    .option('--since <duration>', 'evaluate it over the time before now, such as 7d', duration)
    .action(tryAlert);
  addRemoteOptions(test, 'a running service', 'manage');
  return alerts;
}

async function tryAlert(
  name: string,
  { since: sinceMs, ...at }: RemoteOptions & { readonly since?: number },
): Promise<void> {
  const remote = findRemote(at);
  if (remote === undefined)
    return printLines(await testHere({ name, ...(sinceMs !== undefined && { sinceMs }) }));
  if (sinceMs !== undefined)
    throw new InputError([
      '--since is evaluated beside the service: leave --url out, and set TAILRACE_DATA_DIR to its data directory',
    ]);
  printLines(describeRemoteTest(await testRemoteAlert(remote, name, stopSignal())));
}

async function testHere(asked: AlertTest): Promise<readonly string[]> {
  const { config } = findStore();
  const result = await runAlertTest(config, asked, stopSignal());
  return asked.sinceMs === undefined ? describeTest(result, findNoService(config)) : describeReplay(result);
}

function printLines(lines: readonly string[]): void {
  process.stdout.write(`${lines.map(toPrintable).join('\n')}\n`);
}

function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms === 0)
    throw new InvalidArgumentError('It must be a duration, such as 7d or 12h.');
  return ms;
}
