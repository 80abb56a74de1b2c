import type { AlertTestResult } from '../../alerts/replay.ts';
import { oneLine } from '../../alerts/text.ts';
import { MICROS_PER_MS } from '../../lib/instant.ts';
import { formatCounted, formatMinute } from '../format.ts';
import type { RemoteTest } from './remote-alerts.ts';

/** Returns the labels of an instance as one line. */
function formatLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${oneLine(value)}`);
  return pairs.length === 0 ? 'the whole answer' : pairs.join(' ');
}

/**
 * Describes when an alert would have fired in the time before now, for which instances, and how many messages to whom
 * that is.
 */
export function describeReplay(result: AlertTestResult): string[] {
  const { ticks, messages, to } = result;
  const sent = messages.map(({ at, status, instances, text }) => {
    const about = nameInstances(instances.map(({ labels }) => labels));
    const line = [formatMinute(at / MICROS_PER_MS), status, about, text.replaceAll('\n', '; ')];
    return line.filter((part) => part !== '').join('  ');
  });
  const each = to.length === 1 ? '' : 'each of ';
  const counts =
    `${formatCounted(ticks, 'evaluation')}, ${formatCounted(messages.length, 'message')} to ` +
    `${each}${to.join(', ')}`;
  return [...sent, counts, ...describeFailures(result)];
}

const NAMED_MAX = 3;

function nameInstances(labels: readonly Readonly<Record<string, string>>[]): string {
  const named = labels.filter((one) => Object.keys(one).length > 0);
  const more = named.length > NAMED_MAX ? [`and ${named.length - NAMED_MAX} more`] : [];
  return [...named.slice(0, NAMED_MAX).map(formatLabels), ...more].join(', ');
}

/**
 * Describes what fires at present, and the message that is marked as a test.
 *
 * @param absent why no service sends it; `undefined`: one runs
 */
export function describeTest(result: AlertTestResult, absent: string | undefined): string[] {
  const { firing, sentTo, to } = result;
  const unsent = absent ?? `TAILRACE_RECEIVERS_FILE of the service has no receiver called ${to.join(' or ')}`;
  const fires = firing.map((one) => `fires: ${formatLabels(one.labels)} ${JSON.stringify(one.values)}`);
  return [
    ...(fires.length === 0 ? [NOTHING_FIRES] : fires),
    sentTo.length > 0
      ? `a test message is on its way to ${sentTo.join(', ')}`
      : `no message was sent: ${unsent}`,
    ...describeFailures(result),
  ];
}

const NOTHING_FIRES = 'nothing fires at present';

/** Describes a test by a service, which waits for the receivers. */
export function describeRemoteTest({ result, firing, last_error: lastError }: RemoteTest): string[] {
  return [
    firing === 0 ? NOTHING_FIRES : `${formatCounted(firing, 'instance')} of it fires at present`,
    ...Object.entries(result).map(([receiver, text]) => `${receiver}: ${text}`),
    ...(lastError === null ? [] : [`the evaluation failed: ${lastError}`]),
  ];
}

function describeFailures({ failures, lastError }: AlertTestResult): string[] {
  return failures === 0
    ? []
    : [`${formatCounted(failures, 'evaluation')} failed, the last one: ${lastError}`];
}
