import { Command, Option } from 'commander';
import { oneLine } from '../../alerts/text.ts';
import { InputError, StoppedError } from '../../errors.ts';
import type { AlertReplayView, AlertTestView, AlertView, SilenceView } from '../../management/alert-view.ts';
import { stopSignal } from '../environment.ts';
import {
  durationOption,
  formatCounted,
  formatMinute,
  formatTable,
  parseDuration,
  parsePair,
  toPrintable,
} from '../format.ts';
import { findService } from '../local-service.ts';
import { addRemoteOptions, callRemote, type RemoteCall, type RemoteOptions } from '../remote.ts';

export function alertsCommand(): Command {
  const alerts = new Command('alerts').description('List, silence and try alerts of a running service.');
  const lists = alerts
    .command('list')
    .description('List alerts with their states and silences.')
    .action(list);
  const silences = alerts
    .command('silence')
    .description('Stop the messages of an alert until a time, or end its silences.')
    .argument('<name>', 'name or UUID of the alert')
    .option('--until <time>', 'such as 2h or 2026-11-20T18:00:00Z')
    .option('--comment <text>', 'why')
    .option('--label <column=value>', 'only instances with this label; may be repeated', collectLabel)
    .addOption(new Option('--end', 'end all silences of the alert now').conflicts(['until', 'comment']))
    .action(silence);
  const test = alerts
    .command('test')
    .description(
      'Have the service send one message marked as a test, and wait for its receivers; with --since, print when the ' +
        'alert would have fired.',
    )
    .argument('<name>', 'name or UUID of the alert')
    .option('--since <duration>', 'evaluate it over the time before now, such as 7d', durationOption)
    .action(tryAlert);
  const about = 'a running service; default: that of the data directory';
  addRemoteOptions(lists, about, 'query');
  for (const command of [silences, test]) addRemoteOptions(command, about, 'manage');
  return alerts;
}

async function list(at: RemoteOptions): Promise<void> {
  const { result } = (await call(at, '/api/alerts')) as { result: readonly AlertView[] }; // by its route
  const rows = result.map((alert) => [
    alert.name,
    alert.state,
    alert.since === null ? '' : minuteOf(alert.since),
    nameInstances(alert.instances.map(({ labels }) => labels)),
    alert.last_evaluation === null ? 'never' : minuteOf(alert.last_evaluation),
    alert.silences.map(({ until, labels }) => `until ${minuteOf(until)}${nameLabels(labels)}`).join(', '),
  ]);
  const head = ['alert', 'state', 'since', 'instances', 'evaluated', 'silenced'];
  process.stdout.write(rows.length === 0 ? 'There are no alerts.\n' : `${formatTable(head, rows)}\n`);
}

interface SilenceOptions extends RemoteOptions {
  readonly until?: string;
  readonly comment?: string;
  readonly label?: Labels;
  readonly end?: boolean;
}

/** @throws InputError without `--until` and `--comment`, or if there is no silence to end; as `callRemote` */
async function silence(
  name: string,
  { until, comment, label = {}, end = false, ...at }: SilenceOptions,
): Promise<void> {
  const path = `/api/alerts/${encodeURIComponent(name)}`;
  if (end) return await endSilences(at, path, name);
  if (until === undefined || comment === undefined)
    throw new InputError(['a silence needs --until and --comment; --end ends the silences of an alert']);
  const afterMs = parseDuration(until);
  const body = {
    until: afterMs === undefined ? until : new Date(Date.now() + afterMs).toISOString(),
    comment,
    labels: label,
  };
  const made = (await call(at, `${path}/silences`, { body })) as SilenceView; // by its route
  process.stdout.write(`${name} is silent until ${minuteOf(made.until)}${nameLabels(made.labels)}\n`);
}

async function endSilences(at: RemoteOptions, path: string, name: string): Promise<void> {
  const { silences } = (await call(at, path)) as AlertView; // by its route
  if (silences.length === 0) throw new InputError([`${name} has no silence`]);
  for (const { id } of silences) await call(at, `${path}/silences/${id}`, { method: 'DELETE' });
  process.stdout.write(`${formatCounted(silences.length, 'silence')} of ${name} ended\n`);
}

const minuteOf = (time: string) => formatMinute(Date.parse(time));

function nameLabels(labels: Labels): string {
  const named = nameInstances([labels]);
  return named === '' ? '' : ` for ${named}`;
}

type Labels = Readonly<Record<string, string>>;

function collectLabel(text: string, labels: Labels = {}): Labels {
  const [name, value] = parsePair(text);
  return { ...labels, [name]: value };
}

/** @throws StoppedError if a receiver has not accepted the message; as `callRemote` */
async function tryAlert(
  name: string,
  { since: sinceMs, ...at }: RemoteOptions & { readonly since?: number },
): Promise<void> {
  const path = `/api/alerts/${encodeURIComponent(name)}`;
  if (sinceMs !== undefined) {
    const body = { since_seconds: Math.ceil(sinceMs / 1000) };
    return printLines(describeReplay((await call(at, `${path}/replay`, { body })) as AlertReplayView)); // by its route
  }
  const tested = (await call(at, `${path}/test`, { body: {} })) as AlertTestView; // by its route
  printLines(describeTest(tested));
  if (Object.values(tested.result).some((text) => text !== 'sent'))
    throw new StoppedError('not every receiver has accepted the message');
}

/** Calls the service of the options, or the one on the data directory of the settings. */
async function call(at: RemoteOptions, path: string, options: RemoteCall = {}): Promise<unknown> {
  return await callRemote(await findService(at), path, { ...options, signal: stopSignal() });
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
    const parts = [minuteOf(at), status, nameInstances(instances), text.replaceAll('\n', '; ')];
    return parts.filter((part) => part !== '').join('  ');
  });
  const counts = [
    formatCounted(ticks, 'evaluation'),
    `fired ${formatCounted(fired, 'time')}`,
    `${formatCounted(messages.length, 'message')} to ${to.length === 1 ? '' : 'each of '}${to.join(', ')}`,
  ];
  const failed = `${formatCounted(failures, 'evaluation')} failed, the last one: ${lastError}`;
  return [...sent, counts.join(', '), ...(failures === 0 ? [] : [failed])];
}

function nameInstances(labels: readonly Labels[]): string {
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
