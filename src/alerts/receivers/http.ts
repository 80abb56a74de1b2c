import { createHmac, hash } from 'node:crypto';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { AlertMessage } from '../message.ts';
import { oneLine, shorten } from '../text.ts';
import {
  attempt,
  describeInstances,
  type Outgoing,
  type Send,
  SendError,
  type Target,
  titleOf,
} from './receiver.ts';

// Receivers that are called over HTTP: how a request is sent, and what a message becomes at each kind.

// Read of a response that is not 2xx: enough for its reason.
const RESPONSE_BYTES_MAX = 1_024;
// Statuses after which the same message may be accepted later.
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);

/** A request to a receiver. */
interface Post {
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Posts JSON, one request after the other. Any 2xx is success, its body is not read; redirects are not followed.
 * @throws SendError naming the status and the start of the response
 */
export function createPosting(target: Target, toPosts: (outgoing: Outgoing) => readonly Post[]): Send {
  return async (outgoing, signal) => {
    for (const post of toPosts(outgoing))
      await attempt(target, signal, async (ends) => judge(await respond(target, post, ends)));
  };
}

function respond(
  { url, lookup }: Target,
  { body, headers }: Post,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const options = {
      method: 'POST',
      agent: false, // closes the connection after the response
      ...{ lookup, signal },
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(text),
        'user-agent': 'Tailrace',
        ...headers,
      },
    };
    request(url, options, resolve).on('error', reject).end(text);
  });
}

async function judge(response: IncomingMessage): Promise<void> {
  const { statusCode: status = 0, headers } = response;
  try {
    if (status >= 200 && status < 300) return;
    if (status >= 300 && status < 400)
      throw new SendError(`returned ${status}; redirects are not followed`, { isRejected: true });
    throw new SendError(`returned ${status}: ${await readStart(response)}`, {
      retryAfterMs: parseRetryAfter(headers['retry-after']),
      isRejected: status < 500 && !TEMPORARY.has(status),
    });
  } finally {
    response.on('error', () => {}); // of the part that nobody reads
    response.destroy();
  }
}

/** Returns the start of the body; what cannot be read is left out, since the status is known. */
async function readStart(response: IncomingMessage): Promise<string> {
  let start = Buffer.alloc(0);
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      start = Buffer.concat([start, chunk]);
      if (start.length >= RESPONSE_BYTES_MAX) break;
    }
  } catch {}
  return start.toString('utf8', 0, RESPONSE_BYTES_MAX);
}

/** Parses seconds or an HTTP date, which is compared with this machine's clock. */
function parseRetryAfter(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}

type Instance = AlertMessage['instances'][number];

/** Signs as https://www.standardwebhooks.com describes, once by each secret: there are several while one is replaced. */
export function toWebhook({ id, message, sentAtMs }: Outgoing, secrets: readonly string[]): Post {
  const body = JSON.stringify(message);
  const seconds = Math.floor(sentAtMs / 1_000);
  const sign = (secret: string) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
  };
  const signature = secrets.map(sign).join(' ');
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': signature };
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

function linksOf(message: AlertMessage) {
  const links = listLinks(message).filter(({ href }) => URL.canParse(href));
  const written = links.map(({ href, text }) => `<${escapeUrl(new URL(href))}|${text}>`).join(' · ');
  return written === '' ? [] : [{ type: 'section', text: { type: 'mrkdwn', text: written } }];
}

const escapeUrl = ({ href }: URL) => href.replace(/[|<>]/g, encodeURIComponent).replaceAll('&', '&amp;');

/** The links of a message, as PagerDuty has them. */
function listLinks({ link, runbook }: AlertMessage) {
  return [
    ...(link === undefined ? [] : [{ href: link, text: 'Open in Tailrace' }]),
    ...(runbook === undefined ? [] : [{ href: runbook, text: 'Runbook' }]),
  ];
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
  const { alert, status, severity, text, description, link, at } = message;
  const key = { dedup_key: keyOf(message, instance) };
  if (status === 'resolved') return { event_action: 'resolve', ...key };
  const name = Object.values(labels).join(', ');
  return {
    ...{ event_action: 'trigger', ...key },
    ...{ client: 'Tailrace', client_url: link, links: listLinks(message) },
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
  return `tailrace-${hash('sha256', text)}`;
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
  // As Prometheus renames labels whose names it needs: otherwise instances that only differ in them would be one.
  const toOwn = (name: string) => (OWN_LABELS.includes(name) ? `exported_${name}` : name);
  const columns = Object.entries(labels).map(([name, value]) => [toOwn(name), value] as const);
  return toNames([
    ...columns,
    ...Object.entries({ alertname: alert, severity, ...(test === true && { test: 'true' }) }),
  ]);
}

function annotationsOf(message: AlertMessage, { values }: Instance): Record<string, string> {
  const { text: summary, status, description, runbook: runbook_url = '' } = message;
  const numbers = Object.entries(values).map(
    ([column, value]) => [`value_${column}`, String(value ?? '')] as const,
  );
  return toNames([...numbers, ...Object.entries({ summary, status, description, runbook_url })]);
}

/** Alertmanager rejects names with other characters, and a label without a value is none. The last of a name counts. */
function toNames(texts: readonly (readonly [name: string, value: string])[]): Record<string, string> {
  const named = texts.map(([name, value]) => {
    const safe = name.replace(/[^A-Za-z0-9_]/g, '_').replace(/^(?=\d|$)/, '_');
    return [safe, shorten(value, VALUE_CHARS_MAX)] as const;
  });
  return Object.fromEntries(named.filter(([, value]) => value !== ''));
}

function endOf({ status, at, since, test }: AlertMessage, sentAtMs: number): string {
  if (status === 'resolved') return at > since ? at : since;
  return new Date(sentAtMs + (test === true ? RESEND_MS : FIRING_MS)).toISOString();
}
