import { randomUUID } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';
import { createEvaluate } from '../../alerts/evaluate.ts';
import { type AlertTest, type AlertTestResult, testAlert } from '../../alerts/test-command.ts';
import type { Config } from '../../config/config.ts';
import { refuseFaults } from '../../definitions/fault.ts';
import { readDefinitions } from '../../definitions/read.ts';
import { createRegistry } from '../../definitions/registry.ts';
import { openControlStore } from '../../keys/open-control-store.ts';
import { MICROS_PER_MS, parseInstant } from '../../lib/instant.ts';
import { sendCommand } from '../../maintenance/socket/client.ts';
import { COMMANDS } from '../../maintenance/socket/protocol.ts';
import type { AlertEntryView, AlertView } from '../../management/alert-view.ts';
import { type AlertParts, listAlertHistory, listAlerts, silenceAlert } from '../../management/alerts.ts';
import { createRunner } from '../../query/run.ts';
import { openCore } from '../../service/open-core.ts';
import { ownerName, readConfig, stopSignal } from '../environment.ts';
import { formatCounted, formatMinute } from '../format.ts';
import { parsePair, wholeNumber } from '../options.ts';
import { formatTable } from '../table.ts';

const ENTRIES_MAX = 10_000;
const JSON_HELP = 'print the JSON of the HTTP API instead of a table';
/** A user of the shell may see and silence all alerts. */
const OPERATOR = { keyId: 'cli', endpoints: undefined, pins: {} };

export function alertsCommand(): Command {
  const alerts = new Command('alerts').description('List, silence and try alerts.');
  alerts
    .command('list')
    .description('List the alerts with their states.')
    .option('--json', JSON_HELP)
    .action(list);
  alerts
    .command('history')
    .description('Show what happened to an alert, newest first.')
    .argument('<name>', 'name or UUID of the alert')
    .option('--limit <n>', 'entries (default: 50)', wholeNumber(1, ENTRIES_MAX))
    .option('--json', JSON_HELP)
    .action(history);
  alerts
    .command('silence')
    .description('Stop the messages of an alert for a time.')
    .argument('<name>', 'name or UUID of the alert')
    .requiredOption('--until <time>', 'when it ends, such as 2026-11-20T18:00:00Z')
    .requiredOption('--comment <text>', 'why')
    .option('--label <label=value>', 'only instances with this label; may be repeated', collectLabel, {})
    .action(silence);
  alerts
    .command('test')
    .description('Send one message marked as a test; with a range, print when an alert would have fired.')
    .argument('<name>', 'name or UUID of the alert')
    .option('--from <time>', 'start of a range, such as 2026-11-20T07:00:00Z', parseTime)
    .option('--until <time>', 'its end (default: now)', parseTime)
    .action(test);
  return alerts;
}

async function list({ json }: { readonly json?: boolean }): Promise<void> {
  const result = await withAlerts((parts) => listAlerts(parts, OPERATOR));
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
  options: { readonly limit?: number; readonly json?: boolean },
): Promise<void> {
  const { limit = 50, json } = options;
  const result = await withAlerts((parts) => listAlertHistory(parts, OPERATOR, { name, limit }));
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

interface SilenceOptions {
  readonly until: string;
  readonly comment: string;
  readonly label: Readonly<Record<string, string>>;
}

async function silence(name: string, { until, comment, label: labels }: SilenceOptions): Promise<void> {
  const made = await withAlerts((parts) => silenceAlert(parts, OPERATOR, { name, until, comment, labels }));
  process.stdout.write(`${name} sends no messages until ${made.until}.\n`);
}

async function test(
  name: string,
  { from, until }: { readonly from?: number; readonly until?: number },
): Promise<void> {
  const untilMs = until ?? Date.now();
  const range = from === undefined ? {} : { range: { fromMs: from, untilMs } };
  print(await run(readConfig(), { name, ...range }), from !== undefined);
}

/** Tries an alert in the service that owns the store, or in this process if there is none. */
async function run(config: Config, asked: AlertTest): Promise<AlertTestResult> {
  const running = await sendCommand(config.dataDir, COMMANDS.testAlert, asked);
  if (running !== undefined) return (await running.finish(() => {})) as AlertTestResult; // by testAlert
  await using cleanup = new AsyncDisposableStack();
  const core = await openCore(config, ownerName('alerts test'));
  cleanup.defer(core.close);
  const control = await openControlStore(config);
  cleanup.defer(control.close);
  const evaluate = createEvaluate({
    ...config,
    registry: core.registry,
    run: createRunner(core.engine, Date.now),
  });
  const receivers = () => new Set<string>(); // the service sends
  const options = { registry: core.registry, evaluate, store: control.alerts, receivers, now: Date.now };
  return await testAlert(options, asked, stopSignal());
}

function print(result: AlertTestResult, isRange: boolean): void {
  const { ticks, failures, lastError, messages, firing, to, sentTo } = result;
  const lines: string[] = [];
  if (isRange) {
    for (const { at, status, text } of messages)
      lines.push(`${formatMinute(at / MICROS_PER_MS)}  ${status}  ${text.replaceAll('\n', '; ')}`);
    const receivers = to.length === 1 ? '' : ` to each of ${formatCounted(to.length, 'receiver')}`;
    lines.push(
      `${formatCounted(ticks, 'evaluation')}, ${formatCounted(messages.length, 'message')}${receivers}`,
    );
  } else {
    for (const one of firing) lines.push(`fires: ${formatLabels(one.labels)} ${JSON.stringify(one.values)}`);
    if (firing.length === 0) lines.push('nothing fires at present');
    lines.push(
      sentTo.length > 0
        ? `a test message is on its way to ${sentTo.join(', ')}`
        : 'no message was sent: no running service has its receivers',
    );
  }
  if (failures > 0) lines.push(`${formatCounted(failures, 'evaluation')} failed, the last one: ${lastError}`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

function formatLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? 'the whole answer' : pairs.join(' ');
}

/** Runs `work` on the control store of the settings, and the definitions. */
async function withAlerts<T>(work: (parts: AlertParts) => Promise<T>): Promise<T> {
  const config = readConfig();
  const { definitions, faults } = await readDefinitions(config);
  refuseFaults(faults);
  await using cleanup = new AsyncDisposableStack();
  const control = await openControlStore(config);
  cleanup.defer(control.close);
  const { parameterBytesMax } = config;
  return await work({
    ...{
      control,
      registry: createRegistry(definitions),
      parameterBytesMax,
      now: Date.now,
      newId: randomUUID,
    },
  });
}

function collectLabel(text: string, labels: Readonly<Record<string, string>>): Record<string, string> {
  const [name, value] = parsePair(text);
  return { ...labels, [name]: value };
}

function parseTime(text: string): number {
  const micros = parseInstant(text);
  if (micros === undefined)
    throw new InvalidArgumentError('It must be an ISO 8601 timestamp, such as 2026-11-20T07:00:00Z.');
  return micros / MICROS_PER_MS;
}

function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
