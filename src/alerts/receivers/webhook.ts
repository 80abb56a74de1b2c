import { Webhook } from 'standardwebhooks';
import type { AlertMessage } from '../outbox.ts';
import { postJson } from './post.ts';
import type { Connector, Send } from './receiver.ts';

export interface WebhookSettings {
  readonly url: URL;
  /** Each `whsec_` and base64; several while a secret is rotated. */
  readonly secrets: readonly string[];
}

/** Sends messages signed as https://www.standardwebhooks.com describes, once by each secret. */
export function createWebhook({ url, secrets }: WebhookSettings, connector: Connector): Send {
  const signers = secrets.map((secret) => new Webhook(secret));
  return ({ id, message, sentAtMs }, signal) => {
    const body = JSON.stringify(toBody(message));
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(sentAtMs / 1_000)),
      'webhook-signature': signers.map((signer) => signer.sign(id, new Date(sentAtMs), body)).join(' '),
    };
    return postJson({ url, body, headers }, connector, signal);
  };
}

/** The members of a body, in this order; those that are undefined are left out. */
function toBody({ isTest, instances, ...message }: AlertMessage) {
  const { alert, status, severity, text, at, since, link } = message;
  const own = instances.map(({ labels, values }) => ({ labels, values }));
  return { alert, status, severity, text, at, since, instances: own, link, test: isTest };
}
