import { Command, InvalidArgumentError } from 'commander';
import { oneLine } from '../../alerts/text.ts';
import { StoppedError } from '../../errors.ts';
import type { AlertReplayView, AlertTestView } from '../../management/alert-view.ts';
import { stopSignal } from '../environment.ts';
import { formatCounted, formatMinute, toPrintable } from '../format.ts';
import { findStore, getLocalService } from '../local-service.ts';
import { parseDuration } from '../options.ts';
import { addRemoteOptions, callRemote, findRemote, type RemoteOptions } from '../remote.ts';

export function alertsCommand(): Command {
  const alerts = new Command('alerts').description('Try alerts.');
  const test = alerts
    .command('test')
    .description(
      'Have the service send one message marked as a test, and wait for its receivers; with --since, print when the ' +
        'alert would have fired.',
    )
    .argument('<name>', 'name or UUID of the alert')
    .option('--since <duration>', 'evaluate it over the time before now, such as 7d', duration)
    .action(tryAlert);
  addRemoteOptions(test, 'a running service; default: that of the data directory', 'manage');
  return alerts;
}

/** @throws StoppedError if a receiver has not accepted the message; as `callRemote` */
async function tryAlert(
  name: string,
  { since: sinceMs, ...at }: RemoteOptions & { readonly since?: number },
): Promise<void> {
  const path = `/api/alerts/${encodeURIComponent(name)}`;
  if (sinceMs !== undefined) {
    const body = { since_seconds: Math.ceil(sinceMs / 1000) };
    return printLines(describeReplay((await call(at, `${path}/replay`, body)) as AlertReplayView)); // by its route
  }
  const tested = (await call(at, `${path}/test`, {})) as AlertTestView; // by its route
  printLines(describeTest(tested));
  if (Object.values(tested.result).some((text) => text !== 'sent'))
    throw new StoppedError('not every receiver has accepted the message');
}

/** Calls the service of the options, or the one on the data directory of the settings. */
async function call(at: RemoteOptions, path: string, body: object): Promise<unknown> {
  const remote = findRemote(at) ?? (await getLocalService(findStore().config));
  return await callRemote(remote, path, { body, signal: stopSignal() });
}

function describeTest({ result, firing, last_error: lastError }: AlertTestView): string[] {
  return [
    firing === 0 ? 'nothing fires at present' : `${formatCounted(firing, 'instance')} of it fires at present`,
    ...Object.entries(result).map(([receiver, text]) => `${receiver}: ${text}`),
    ...(lastError === null ? [] : [`the evaluation failed: ${lastError}`]),
  ];
}

const NAMED_MAX = 3;

/** Describes when an alert would have fired, for which instances, and how many messages to whom that is. */
function describeReplay(played: AlertReplayView): string[] {
  const { ticks, fired, messages, to, failures, last_error: lastError } = played;
  const sent = messages.map(({ at, status, instances, text }) => {
    const line = [
      formatMinute(Date.parse(at)),
      status,
      nameInstances(instances),
      text.replaceAll('\n', '; '),
    ];
    return line.filter((part) => part !== '').join('  ');
  });
  const counts = [
    formatCounted(ticks, 'evaluation'),
    `fired ${formatCounted(fired, 'time')}`,
    `${formatCounted(messages.length, 'message')} to ${to.length === 1 ? '' : 'each of '}${to.join(', ')}`,
  ];
  const failed = `${formatCounted(failures, 'evaluation')} failed, the last one: ${lastError}`;
  return [...sent, counts.join(', '), ...(failures === 0 ? [] : [failed])];
}

function nameInstances(labels: readonly Readonly<Record<string, string>>[]): string {
  const named = labels.filter((one) => Object.keys(one).length > 0);
  const names = named.slice(0, NAMED_MAX).map((one) =>
    Object.entries(one)
      .map(([name, value]) => `${name}=${oneLine(value)}`)
      .join(' '),
  );
  const more = named.length - names.length;
  return [...names, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
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
