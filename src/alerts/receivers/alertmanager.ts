import { MICROS_PER_MS, type Micros } from '../../lib/instant.ts';
import type { AlertMessage } from '../outbox.ts';
import { shorten } from '../text.ts';
import { postJson } from './post.ts';
import type { Connector, Outgoing, Send } from './receiver.ts';

/** How often what fires is sent again, as Prometheus does; Alertmanager loses alerts when it restarts. */
export const RESEND_MS = 60_000;
// Alertmanager resolves an alert by itself at its `endsAt`: after a few sendings that did not arrive.
const FIRING_MS = 4 * RESEND_MS;
const VALUE_CHARS_MAX = 1_000;
const OWN_LABELS = ['alertname', 'severity', 'kind', 'test'];

export interface AlertmanagerSettings {
  /** The service, such as `http://alertmanager:9093`, with the path of its `--web.route-prefix`. */
  readonly url: URL;
}

type Instance = AlertMessage['instances'][number];

/** Posts alerts to the API v2 of Prometheus Alertmanager. */
export function createAlertmanager({ url }: AlertmanagerSettings, connector: Connector): Send {
  const target = new URL(url);
  target.pathname = `${url.pathname.replace(/\/+$/, '')}/api/v2/alerts`;
  return (outgoing, signal) => postJson({ url: target, body: toAlerts(outgoing) }, connector, signal);
}

function toAlerts({ message, sentAtMs }: Outgoing) {
  const instances = message.instances.length > 0 ? message.instances : [{ labels: {}, values: {} }];
  return instances.map((instance) => ({
    labels: labelsOf(message, instance),
    annotations: annotationsOf(message, instance),
    startsAt: toTime(message.since),
    endsAt: endOf(message, sentAtMs),
    ...(message.link === undefined ? {} : { generatorURL: message.link }),
  }));
}

/** Identify the alert, so they have to be the same when it is resolved: neither status nor values. */
function labelsOf(
  { alert, severity, isTest }: AlertMessage,
  { kind, labels }: Instance,
): Record<string, string> {
  const columns = Object.entries(labels).map(([name, value]) => [toOwnName(name), value] as const);
  return toNames({
    ...Object.fromEntries(columns),
    ...{ alertname: alert, severity },
    ...(kind === undefined ? {} : { kind }),
    ...(isTest === true ? { test: 'true' } : {}),
  });
}

/** As Prometheus renames labels whose names it needs: otherwise instances that only differ in them would be one. */
function toOwnName(column: string): string {
  return OWN_LABELS.includes(column) ? `exported_${column}` : column;
}

function annotationsOf({ text, status }: AlertMessage, { values }: Instance): Record<string, string> {
  const numbers = Object.entries(values).map(([column, value]) => [`value_${column}`, String(value ?? '')]);
  return toNames({ ...Object.fromEntries(numbers), summary: text, status });
}

/** Alertmanager rejects names with other characters, and a label without a value is none. */
function toNames(texts: Record<string, string>): Record<string, string> {
  const named = Object.entries(texts).map(([name, value]) => {
    const safe = name.replace(/[^A-Za-z0-9_]/g, '_').replace(/^(?=\d|$)/, '_');
    return [safe, shorten(value, VALUE_CHARS_MAX)] as const;
  });
  return Object.fromEntries(named.filter(([, value]) => value !== ''));
}

function endOf({ status, at, since, isTest }: AlertMessage, sentAtMs: number): string {
  if (status === 'resolved') return toTime(Math.max(at, since));
  return toTime((sentAtMs + (isTest === true ? RESEND_MS : FIRING_MS)) * MICROS_PER_MS);
}

function toTime(at: Micros): string {
  return new Date(at / MICROS_PER_MS).toISOString();
}
