import { randomUUID } from 'node:crypto';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { AlertTest } from '../../alerts/replay.ts';
import { refuseFaults } from '../../definitions/fault.ts';
import { readDefinitions } from '../../definitions/read.ts';
import { createRegistry } from '../../definitions/registry.ts';
import { InputError } from '../../errors.ts';
import type { AlertParts } from '../../management/alert-access.ts';
import type { AlertEntryView, AlertView } from '../../management/alert-view.ts';
import { listAlertHistory, listAlerts, readAlert } from '../../management/alerts.ts';
import { endSilence, listSilences, silenceAlert } from '../../management/silences.ts';
import { describeRemoteTest, describeReplay, describeTest, formatLabels } from '../alerts/describe.ts';
import {
  endRemoteSilences,
  listRemoteAlerts,
  listRemoteHistory,
  silenceRemoteAlert,
  testRemoteAlert,
} from '../alerts/remote-alerts.ts';
import { runAlertTest } from '../alerts/test-alert.ts';
import { stopSignal, withControlStore } from '../environment.ts';
import { findStore } from '../find-store.ts';
import { formatCounted, formatMinute, toPrintable } from '../format.ts';
import { findNoService } from '../local-service.ts';
import { parseDuration, parsePair, wholeNumber } from '../options.ts';
import { printJson } from '../print-json.ts';
import { addRemoteOptions, findRemote, type Remote, type RemoteOptions } from '../remote.ts';
import { formatTable } from '../table.ts';

const ENTRIES_MAX = 10_000;
const REMOTE_HELP = 'a running service';
const JSON_HELP = 'print the JSON of the HTTP API instead of a table';
/** A user of the shell may see and silence all alerts. */
const OPERATOR = { keyId: 'cli', endpoints: undefined, pins: {} };

export function alertsCommand(): Command {
  const alerts = new Command('alerts').description('List, silence and try alerts.');
  const lists = alerts
    .command('list')
    .description('List the alerts with their states.')
    .option('--json', JSON_HELP)
    .action(list);
  const histories = alerts
    .command('history')
    .description('Show what happened to an alert, newest first.')
    .argument('<name>', 'name or UUID of the alert')
    .option('--limit <n>', 'entries (default: 50)', wholeNumber(1, ENTRIES_MAX))
    .option('--json', JSON_HELP)
    .action(history);
  const silences = alerts
    .command('silence')
    .description('Stop the messages of an alert for a time, or end a silence early.')
    .argument('[name]', 'name or UUID of the alert; without it: every alert, which needs --label')
    .option('--until <time>', 'when it ends, such as 4h or 2026-11-20T18:00:00Z')
    .option('--comment <text>', 'why')
    .option('--label <label=value>', 'only instances with this label; may be repeated', collectLabel)
    .addOption(
      new Option(
        '--end <id>',
        'end this silence now, or "all" of the alert; without a name, of those of every alert',
      ).conflicts(['until', 'comment', 'label']),
    )
    .action(silence);
  const tests = alerts
    .command('test')
    .description('Send one message marked as a test; with --since, print when the alert would have fired.')
    .argument('<name>', 'name or UUID of the alert')
    .option('--since <duration>', 'evaluate it over the time before now, such as 7d', duration)
    .action(test);
  for (const command of [lists, histories]) addRemoteOptions(command, REMOTE_HELP, 'query');
  for (const command of [silences, tests]) addRemoteOptions(command, REMOTE_HELP, 'manage');
  return alerts;
}

async function list({ json, ...at }: RemoteOptions & { readonly json?: boolean }): Promise<void> {
  const remote = findRemote(at);
  const result = await (remote === undefined
    ? withAlerts((parts) => listAlerts(parts, OPERATOR))
    : listRemoteAlerts(remote, stopSignal()));
  if (json === true) return printJson({ result });
  if (result.length === 0) process.stdout.write('no alerts\n');
  else
    process.stdout.write(
      `${formatTable(['name', 'state', 'since', 'instances', 'evaluated'], result.map(toRow))}\n`,
    );
}

function toRow({
  name,
  state,
  since,
  instances,
  last_evaluation: last,
  last_error: error,
  silences,
}: AlertView) {
  const silenced = silences.length > 0 ? ', silenced' : '';
  const labels = instances.map((one) => `${formatLabels(one.labels)} ${one.state}`).join('\n');
  const evaluated = last === null ? 'never' : formatMinute(Date.parse(last));
  return [
    name,
    `${state}${silenced}`,
    since === null ? '' : formatMinute(Date.parse(since)),
    labels,
    error === null ? evaluated : `${evaluated}, failed: ${error}`,
  ];
}

async function history(
  name: string,
  options: RemoteOptions & { readonly limit?: number; readonly json?: boolean },
): Promise<void> {
  const { limit = 50, json } = options;
  const remote = findRemote(options);
  const result = await (remote === undefined
    ? withAlerts((parts) => listAlertHistory(parts, OPERATOR, { name, limit }))
    : listRemoteHistory(remote, { name, limit }, stopSignal()));
  if (json === true) return printJson({ result });
  const rows = result.map((one) => [formatMinute(Date.parse(one.at)), one.change, describeEntry(one)]);
  process.stdout.write(
    rows.length === 0 ? 'no entries\n' : `${formatTable(['time', 'change', 'about'], rows)}\n`,
  );
}

function describeEntry({ labels, quiet, receiver, reason }: AlertEntryView): string {
  if (labels === null) return [receiver, reason].filter((text) => text !== null).join(': ');
  return `${formatLabels(labels)}${quiet === true ? ' (no message)' : ''}`;
}

interface SilenceOptions extends RemoteOptions {
  readonly until?: string;
  readonly comment?: string;
  readonly label?: Readonly<Record<string, string>>;
  readonly end?: string;
}

async function silence(
  name: string | undefined,
  { until, comment, label: labels = {}, end, ...at }: SilenceOptions,
): Promise<void> {
  const remote = findRemote(at);
  if (end !== undefined) return await endSilences(name, end, remote);
  if (until === undefined || comment === undefined)
    throw new InputError(['a silence needs --until and --comment, or --end to end one']);
  const wanted = { name, until: toEnd(until), comment, labels };
  const made = await (remote === undefined
    ? withAlerts((parts) => silenceAlert(parts, OPERATOR, wanted))
    : silenceRemoteAlert(remote, wanted, stopSignal()));
  const whose = name ?? `Every alert with ${formatLabels(labels)}`;
  process.stdout.write(`${whose} sends no messages until ${made.until}; --end ${made.id} ends it early.\n`);
}

async function endSilences(name: string | undefined, end: string, remote: Remote | undefined): Promise<void> {
  const count =
    remote === undefined
      ? await withAlerts(async (parts) => {
          const ids = end === 'all' ? await listOwnSilences(parts, name) : [end];
          for (const id of ids) await endSilence(parts, OPERATOR, { name, id });
          return ids.length;
        })
      : await endRemoteSilences(remote, { name, end }, stopSignal());
  process.stdout.write(`${formatCounted(count, 'silence')} of ${name ?? 'every alert'} ended.\n`);
}

async function listOwnSilences(parts: AlertParts, name: string | undefined): Promise<readonly string[]> {
  const all =
    name === undefined
      ? await listSilences(parts, OPERATOR)
      : (await readAlert(parts, OPERATOR, name)).silences.filter((one) => !one.is_of_every_alert);
  return all.map(({ id }) => id);
}

async function test(
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

/** Runs `work` on the control store of the settings, and the definitions. */
async function withAlerts<T>(work: (parts: AlertParts) => Promise<T>): Promise<T> {
  const { config } = findStore();
  const { definitions, faults } = await readDefinitions(config);
  refuseFaults(faults);
  // Otherwise a silence in the wrong folder would seem to be one.
  const absent = config.controlUrl === '' ? findNoService(config) : undefined;
  if (absent !== undefined) process.stderr.write(`tailrace: ${absent}\n`);
  const registry = createRegistry(definitions);
  return await withControlStore(config, (control) =>
    work({ control, registry, now: Date.now, newId: randomUUID }),
  );
}

function collectLabel(text: string, labels: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [name, value] = parsePair(text);
  return { ...labels, [name]: value };
}

function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms === 0)
    throw new InvalidArgumentError('It must be a duration, such as 7d or 12h.');
  return ms;
}

/** Converts a duration that begins now to a timestamp; the service checks any other text. */
function toEnd(text: string): string {
  const aheadMs = parseDuration(text);
  return aheadMs === undefined ? text : new Date(Date.now() + aheadMs).toISOString();
}
