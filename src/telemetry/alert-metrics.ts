import type { Queued } from '../keys/alerts/alert-record.ts';
import type { MetricRegistry } from './prometheus.ts';

/** What a scrape reads of the alerts. */
interface AlertReadings {
  /** ms since the epoch. */
  readonly now: () => number;
  readonly isEvaluating: () => boolean;
  /** The number of firing instances of each served alert. */
  readonly readFiring: () => readonly (ServedAlert & { readonly instances: number })[];
  /** Reads what waits to be sent. */
  readonly readOutbox: () => Promise<readonly Queued[]>;
  /** Their names. */
  readonly receivers: () => readonly string[];
}

type ServedAlert = Readonly<Record<'name' | 'endpoint', string>>;

const OUTCOMES = ['sent', 'failed', 'given_up'] as const;

/** Creates the metrics of alerts. A series has its alert's endpoint, by which limited keys are filtered. */
export function createAlertMetrics({ counter, expose, gauge }: MetricRegistry, readings: AlertReadings) {
  const { now, isEvaluating, readFiring, readOutbox, receivers } = readings;
  const evaluations = counter(
    'tailrace_alert_evaluations_total',
    'Evaluations, by alert, endpoint and result: done or failed.',
    ['alert', 'endpoint', 'result'],
  );
  const tries = counter(
    'tailrace_alert_messages_total',
    'Tries to send a message, by receiver and outcome: sent, failed or given_up.',
    ['receiver', 'outcome'],
  );
  /** The first failure in a row, by receiver. */
  const failing = new Map<string, number>();
  gauge('tailrace_alerts_evaluating', '1 if this process evaluates the alerts.', isEvaluating);
  expose({
    name: 'tailrace_alerts_firing',
    help: 'Firing instances, by alert and endpoint; of the replica that evaluates.',
    type: 'gauge',
    read() {
      const firing = isEvaluating() ? readFiring() : [];
      return firing.map(({ name: alert, endpoint, instances: value }) => ({
        labels: { alert, endpoint },
        value,
      }));
    },
  });
  const areFailing = () => receivers().map((name) => [name, failing.has(name)] as const);
  gauge('tailrace_alert_receiver_failing', '1 if the last try failed, by receiver.', areFailing, 'receiver');
  const ofOutbox = (read: (queued: Queued | undefined) => number) => async () => {
    // The other metrics are rendered while the control store is unavailable: tailrace_control_store_up is then 0.
    const outbox = await readOutbox().catch(() => undefined);
    const find = (name: string) => outbox?.find(({ receiver }) => receiver === name);
    return outbox && receivers().map((name) => [name, read(find(name))] as const);
  };
  const messages = ofOutbox((queued) => queued?.messages ?? 0);
  gauge('tailrace_alert_outbox_messages', 'Messages in the outbox, by receiver.', messages, 'receiver');
  const age = ofOutbox((queued) => Math.max(0, now() - (queued?.oldestMs ?? now())) / 1000);
  const ageHelp = 'Age of the oldest message in the outbox, by receiver.';
  gauge('tailrace_alert_outbox_oldest_seconds', ageHelp, age, 'receiver');
  return {
    evaluated: ({ name, endpoint }: ServedAlert, failed: boolean) =>
      evaluations.inc(name, endpoint, failed ? 'failed' : 'done'),
    /** Creates the series of a receiver: Prometheus sees only increases of series that it knows. */
    receiverKnown(receiver: string) {
      for (const outcome of OUTCOMES) tries.at(receiver, outcome);
    },
    /** Counts a try to send a message. */
    tried(receiver: string, outcome: (typeof OUTCOMES)[number]) {
      tries.inc(receiver, outcome);
      if (outcome === 'sent') failing.delete(receiver);
      else if (!failing.has(receiver)) failing.set(receiver, now());
    },
    /** Lists the receivers that have only failed since an instant. @param atMs ms since the epoch */
    failingSince: (atMs: number) => receivers().filter((name) => (failing.get(name) ?? Infinity) <= atMs),
  };
}
