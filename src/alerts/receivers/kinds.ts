import { Webhook } from 'standardwebhooks';
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { isDecodable } from '../../config/url.ts';
import type { AlertMessage } from '../outbox.ts';
import { createAlertmanager, RESEND_MS } from './alertmanager.ts';
import { createEmail } from './email.ts';
import { createPagerDuty } from './pagerduty.ts';
import { postJson } from './post.ts';
import type { Connector, Receiver, Send } from './receiver.ts';
import { createSlack } from './slack.ts';

/** What a receiver of a kind is, besides its name. */
type Opened = Pick<Receiver, 'secrets' | 'resendMs'> & { readonly send: Send };

/** One kind of receivers: which fields its entries have, and how a message is sent. */
export interface ReceiverKind {
  readonly shape: TObject;
  readonly schemes: Schemes;
  /** Finds what a shape cannot say. Messages follow the field's name and never contain its value. */
  readonly check: (fields: unknown) => readonly FieldFault[];
  /** @param fields checked by `shape` and `check` */
  readonly open: (fields: unknown, connector: Connector) => Opened;
}

export interface FieldFault {
  readonly field: string;
  readonly message: string;
}

/** What a receiver's `url` begins with. */
interface Schemes {
  readonly all: readonly string[];
  /** Allowed as well if the entry says `private: true`. */
  readonly private: readonly string[];
  readonly example: string;
}

interface Kind<T extends TProperties> {
  readonly fields: T;
  readonly schemes?: Schemes;
  readonly check?: (fields: Static<TObject<T>>) => readonly FieldFault[];
  readonly open: (fields: Static<TObject<T>>, connector: Connector) => Opened;
}

const COMMON = { kind: Type.String(), private: Type.Optional(Type.Boolean({ expected: 'true or false' })) };
const URL_TEXT = Type.String({ minLength: 1, maxLength: 2_000, expected: 'a URL' });
const ADDRESS = Type.String({
  // Neither quotes nor control characters, which could begin another header.
  pattern: '^[A-Za-z0-9.!#$%&*+/=?^_{|}~-]{1,64}@[A-Za-z0-9.-]{1,253}$',
  expected: 'an address, such as ops@example.com',
});
const HTTP: Schemes = { all: ['https:'], private: ['http:'], example: 'https://hooks.example.com/alerts' };
const SECRET = Type.String({ maxLength: 500, expected: 'whsec_ and base64' });

const ROUTING_KEY = '^[A-Za-z0-9]{32}$';
const PAGERDUTY_URL = 'https://events.pagerduty.com/v2/enqueue';
// Standard Webhooks asks for 24 to 64 bytes.
const SECRET_BYTES = { min: 24, max: 64 };
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const PREFIX = 'whsec_';

/** Every kind of receivers. */
export const RECEIVER_KINDS: Readonly<Record<string, ReceiverKind>> = {
  webhook: defineKind({
    fields: {
      url: URL_TEXT,
      secret: Type.Union([SECRET, Type.Array(SECRET, { minItems: 1, maxItems: 5 })], {
        expected: 'whsec_ and base64, or a list of up to 5 such secrets while one is replaced',
      }),
    },
    check: ({ secret }) => toList(secret).flatMap(findSecretFaults).slice(0, 1),
    open: ({ url, secret }, connector) => {
      const secrets = toList(secret);
      const all = [...secretsOf(url), ...secrets, ...secrets.map((one) => one.slice(PREFIX.length))];
      return { secrets: all, send: createWebhook({ url: new URL(url), secrets }, connector) };
    },
  }),
  slack: defineKind({
    fields: { url: URL_TEXT },
    open: ({ url }, connector) => ({
      secrets: secretsOf(url),
      send: createSlack({ url: new URL(url) }, connector),
    }),
  }),
  pagerduty: defineKind({
    fields: {
      url: Type.Optional(URL_TEXT),
      routing_key: Type.String({
        pattern: ROUTING_KEY,
        expected: 'the 32 letters and digits of an integration key of the Events API v2',
      }),
    },
    open: ({ url = PAGERDUTY_URL, routing_key: routingKey }, connector) => ({
      secrets: [...secretsOf(url), routingKey],
      send: createPagerDuty({ url: new URL(url), routingKey }, connector),
    }),
  }),
  alertmanager: defineKind({
    fields: { url: URL_TEXT },
    open: ({ url }, connector) => ({
      secrets: secretsOf(url),
      resendMs: RESEND_MS,
      send: createAlertmanager({ url: new URL(url) }, connector),
    }),
  }),
  email: defineKind({
    // Without `private: true`, smtp: changes to TLS or fails.
    schemes: { all: ['smtps:', 'smtp:'], private: [], example: 'smtps://user:password@smtp.example.com' },
    fields: {
      url: URL_TEXT,
      from: ADDRESS,
      to: Type.Array(ADDRESS, { minItems: 1, maxItems: 50, expected: 'a list of 1 to 50 addresses' }),
    },
    open: ({ url, from, to }, connector) => ({
      secrets: secretsOf(url),
      send: createEmail({ url: new URL(url), from, to }, connector),
    }),
  }),
};

function defineKind<T extends TProperties>(kind: Kind<T>): ReceiverKind {
  const { fields, schemes = HTTP, check = () => [], open } = kind;
  // `shape` is checked before the other two are called, so the fields are of its type.
  const typed = (value: unknown) => value as Static<TObject<T>>;
  return {
    schemes,
    shape: Type.Object(
      { ...COMMON, ...fields },
      { additionalProperties: false, expected: 'a map of fields' },
    ),
    check: (value) => check(typed(value)),
    open: (value, connector) => open(typed(value), connector),
  };
}

function toList(secret: string | readonly string[]): readonly string[] {
  return typeof secret === 'string' ? [secret] : secret;
}

/** The library would sign with what is left of a secret that is not base64. */
function findSecretFaults(secret: string): FieldFault[] {
  const { min, max } = SECRET_BYTES;
  const fault = (message: string) => [{ field: 'secret', message }];
  if (!secret.startsWith(PREFIX)) return fault(`must begin with ${PREFIX}`);
  const text = secret.slice(PREFIX.length);
  if (!BASE64.test(text)) return fault(`must be base64 after ${PREFIX}`);
  const bytes = Buffer.from(text, 'base64').length;
  return bytes >= min && bytes <= max
    ? []
    : fault(`must be ${min} to ${max} bytes as base64, not ${bytes}; openssl rand -base64 32 makes one`);
}

/**
 * Sends messages signed as https://www.standardwebhooks.com describes, once by each secret: there are several while one
 * is replaced.
 */
function createWebhook(
  { url, secrets }: { readonly url: URL; readonly secrets: readonly string[] },
  connector: Connector,
): Send {
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

// Shorter parts of a path cannot be keys, and hiding them would make reasons unreadable.
const PART_CHARS_MIN = 8;
const SEGMENT_CHARS_MIN = 12;
const PASSWORD_CHARS_MIN = 4;

/**
 * Returns the parts of a URL that may be secret: the path of Slack's is its key, and a response may repeat only a part
 * of it.
 */
function secretsOf(text: string): string[] {
  const { username, password, pathname, search, searchParams } = new URL(text);
  const atLeast = (chars: number, ...parts: readonly string[]) =>
    parts.flatMap((part) => [part, decode(part)]).filter(({ length }) => length >= chars);
  const parts = [
    ...atLeast(PASSWORD_CHARS_MIN, password),
    ...atLeast(PART_CHARS_MIN, username, pathname, search, ...searchParams.values()),
    ...atLeast(SEGMENT_CHARS_MIN, ...pathname.split('/')),
  ];
  return [...new Set(parts)];
}

function decode(part: string): string {
  return isDecodable(part) ? decodeURIComponent(part) : part;
}
