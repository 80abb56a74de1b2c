import { createHash, createHmac } from 'node:crypto';
import type { AlertMessage } from '../message.ts';
import { oneLine, shorten } from '../text.ts';
import type { Post } from './post.ts';
import { describeInstances, type Outgoing, titleOf } from './receiver.ts';

// What a message becomes at each kind of receivers that is called over HTTP.

type Instance = AlertMessage['instances'][number];

/**
 * Signs a message as https://www.standardwebhooks.com describes, once by each secret: there are several while one is
 * replaced.
 */
export function toWebhook({ id, message, sentAtMs }: Outgoing, secrets: readonly string[]): Post {
  const body = JSON.stringify(message);
  const seconds = Math.floor(sentAtMs / 1_000);
  const sign = (secret: string) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
  };
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': secrets.map(sign).join(' '),
  };
  return { body, headers };
}

// Slack's bounds: 3,000 characters in a section, 150 in a header.
const SECTION_CHARS_MAX = 3_000;
const HEADER_CHARS_MAX = 150;
const SLACK_INSTANCES_MAX = 10;

/**
 * Writes blocks of plain text, in which Slack reads no markup; `text` is what notifications show:
 * https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 */
export function toSlack({ message }: Outgoing) {
  const title = titleOf(message);
  const lines = describeInstances(message, SLACK_INSTANCES_MAX).join('\n');
  const section = (text: string) =>
    text.trim() === '' ? [] : [{ type: 'section', text: plain(text, SECTION_CHARS_MAX) }];
  return {
    text: escapeMarkup(`${title}: ${oneLine(message.text, SECTION_CHARS_MAX / 10)}`),
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: plain(title, HEADER_CHARS_MAX) },
      ...section(message.text),
      ...section(lines),
      ...section(message.description),
      ...linksOf(message),
    ],
  };
}

function plain(text: string, charsMax: number) {
  const mentions = text.match(MENTION)?.length ?? 0;
  return { type: 'plain_text', text: neutralise(shorten(text, charsMax - mentions)), emoji: false };
}

const MENTION = /[@#](?=\S)/g;

// A client that links names in plain text finds none: a word joiner stands between the sign and the name.
function neutralise(text: string): string {
  return text.replace(MENTION, '$&\u2060');
}

/** The three characters that begin markup (`<!channel>`, `<https://…|text>`), then what is markup without them. */
function escapeMarkup(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return neutralise(escaped).replace(/[*_~`]/g, '\u2060$&\u2060');
}

function linksOf({ link, runbook }: AlertMessage) {
  const links = [...toLink(link, 'Open in Tailrace'), ...toLink(runbook, 'Runbook')];
  return links.length === 0 ? [] : [{ type: 'section', text: { type: 'mrkdwn', text: links.join(' · ') } }];
}

function toLink(address: string | undefined, title: string): string[] {
  if (address === undefined || !URL.canParse(address)) return [];
  const { href, protocol } = new URL(address);
  if (protocol !== 'https:' && protocol !== 'http:') return [];
  const safe = href
    .replaceAll('|', '%7C')
    .replaceAll('>', '%3E')
    .replaceAll('<', '%3C')
    .replaceAll('&', '&amp;');
  return [`<${safe}|${title}>`];
}

const SUMMARY_CHARS_MAX = 1_024; // PagerDuty's

/** @returns at least one: a message about nothing in particular is about the whole answer */
function instancesOf({ instances }: AlertMessage): readonly Instance[] {
  return instances.length > 0 ? instances : [{ labels: {}, values: {} }];
}

/**
 * Writes an event for each instance: https://developer.pagerduty.com/docs/send-alert-event. If one fails, all are sent
 * again: PagerDuty joins events of the same key.
 */
export function toPagerDuty({ message }: Outgoing, routingKey: string) {
  return instancesOf(message).map((instance) => ({ routing_key: routingKey, ...toEvent(message, instance) }));
}

function toEvent(message: AlertMessage, instance: Instance) {
  const { labels, values } = instance;
  const { alert, status, severity, text, description, link, runbook, at } = message;
  const key = { dedup_key: keyOf(message, instance) };
  if (status === 'resolved') return { event_action: 'resolve', ...key };
  const name = Object.values(labels).join(', ');
  const links = [
    ...(link === undefined ? [] : [{ href: link, text: 'Open in Tailrace' }]),
    ...(runbook === undefined ? [] : [{ href: runbook, text: 'Runbook' }]),
  ];
  return {
    event_action: 'trigger',
    ...key,
    client: 'Tailrace',
    ...{ client_url: link, links },
    payload: {
      summary: shorten([titleOf(message), name, text].filter(Boolean).join(': '), SUMMARY_CHARS_MAX),
      ...{ source: 'tailrace', severity, timestamp: at, group: alert, class: status },
      custom_details: { text, description, labels, values },
    },
  };
}

/** The same for an alert and an instance, whatever the order of the labels; a test has its own, so it resolves nothing. */
function keyOf({ alert, test }: AlertMessage, { labels }: Instance): string {
  const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([alert, sorted, test === true]);
  return `tailrace-${createHash('sha256').update(text).digest('hex')}`;
}

/** How often what fires is sent again, as Prometheus does; Alertmanager loses alerts when it restarts. */
export const RESEND_MS = 60_000;
// Alertmanager resolves an alert by itself at its `endsAt`: after a few sendings that did not arrive.
const FIRING_MS = 4 * RESEND_MS;
const VALUE_CHARS_MAX = 1_000;
const OWN_LABELS = ['alertname', 'severity', 'test'];

/** Where the API v2 of Prometheus Alertmanager is, under the path of its `--web.route-prefix`. */
export function alertmanagerUrl(url: URL): URL {
  const target = new URL(url);
  target.pathname = `${url.pathname.replace(/\/+$/, '')}/api/v2/alerts`;
  return target;
}

/** Writes alerts for the API v2 of Prometheus Alertmanager. */
export function toAlertmanager({ message, sentAtMs }: Outgoing) {
  return instancesOf(message).map((instance) => ({
    labels: labelsOf(message, instance),
    annotations: annotationsOf(message, instance),
    startsAt: message.since,
    endsAt: endOf(message, sentAtMs),
    generatorURL: message.link,
  }));
}

/** Identify the alert, so they have to be the same when it is resolved: neither status nor values. */
function labelsOf({ alert, severity, test }: AlertMessage, { labels }: Instance): Record<string, string> {
  const columns = Object.entries(labels).map(([name, value]) => [toOwnName(name), value] as const);
  return toNames({
    ...Object.fromEntries(columns),
    ...{ alertname: alert, severity },
    ...(test === true ? { test: 'true' } : {}),
  });
}

/** As Prometheus renames labels whose names it needs: otherwise instances that only differ in them would be one. */
function toOwnName(column: string): string {
  return OWN_LABELS.includes(column) ? `exported_${column}` : column;
}

function annotationsOf(message: AlertMessage, { values }: Instance): Record<string, string> {
  const { text, status, description, runbook = '' } = message;
  const numbers = Object.entries(values).map(([column, value]) => [`value_${column}`, String(value ?? '')]);
  return toNames({
    ...Object.fromEntries(numbers),
    summary: text,
    status,
    description,
    runbook_url: runbook,
  });
}

/** Alertmanager rejects names with other characters, and a label without a value is none. */
function toNames(texts: Record<string, string>): Record<string, string> {
  const named = Object.entries(texts).map(([name, value]) => {
    const safe = name.replace(/[^A-Za-z0-9_]/g, '_').replace(/^(?=\d|$)/, '_');
    return [safe, shorten(value, VALUE_CHARS_MAX)] as const;
  });
  return Object.fromEntries(named.filter(([, value]) => value !== ''));
}

function endOf({ status, at, since, test }: AlertMessage, sentAtMs: number): string {
  if (status === 'resolved') return at > since ? at : since;
  return new Date(sentAtMs + (test === true ? RESEND_MS : FIRING_MS)).toISOString();
}
