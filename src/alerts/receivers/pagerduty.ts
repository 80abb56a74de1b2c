import { createHash } from 'node:crypto';
import { MICROS_PER_MS } from '../../lib/instant.ts';
import type { AlertMessage } from '../outbox.ts';
import { shorten, titleOf } from '../text.ts';
import { postJson } from './post.ts';
import type { Connector, Send } from './receiver.ts';

const SUMMARY_CHARS_MAX = 1_024; // PagerDuty's

export interface PagerDutySettings {
  readonly url: URL;
  readonly routingKey: string;
}

type Instance = AlertMessage['instances'][number];
const WHOLE: Instance = { labels: {}, values: {} };

/**
 * Sends an event for each instance: https://developer.pagerduty.com/docs/send-alert-event. If one fails, all are sent
 * again: PagerDuty joins
 * events of the same key.
 */
export function createPagerDuty({ url, routingKey }: PagerDutySettings, connector: Connector): Send {
  return async ({ message }, signal) => {
    const instances = message.instances.length > 0 ? message.instances : [WHOLE];
    for (const instance of instances)
      await postJson(
        { url, body: { routing_key: routingKey, ...toEvent(message, instance) } },
        connector,
        signal,
      );
  };
}

function toEvent(message: AlertMessage, instance: Instance) {
  const { labels, values } = instance;
  const { alert, status, severity, text, link, at } = message;
  const key = { dedup_key: keyOf(message, instance) };
  if (status === 'resolved') return { event_action: 'resolve', ...key };
  const name = Object.values(labels).join(', ');
  return {
    event_action: 'trigger',
    ...key,
    client: 'Tailrace',
    ...(link === undefined ? {} : { client_url: link, links: [{ href: link, text: 'Open in Tailrace' }] }),
    payload: {
      summary: shorten([titleOf(message), name, text].filter(Boolean).join(': '), SUMMARY_CHARS_MAX),
      source: 'tailrace',
      severity,
      timestamp: new Date(at / MICROS_PER_MS).toISOString(),
      group: alert,
      class: status,
      custom_details: { text, labels, values },
    },
  };
}

/** The same for an alert and an instance, whatever the order of the labels; a test has its own, so it resolves nothing. */
function keyOf({ alert, isTest }: AlertMessage, { kind, labels }: Instance): string {
  const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([alert, sorted, isTest === true, ...(kind === undefined ? [] : [kind])]);
  return `tailrace-${createHash('sha256').update(text).digest('hex')}`;
}
