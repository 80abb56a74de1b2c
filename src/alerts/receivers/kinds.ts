import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { isDecodable } from '../../config/url.ts';
import { createEmail } from './email.ts';
import { createAlertmanager, createPagerDuty, createSlack, createWebhook, RESEND_MS } from './http-kinds.ts';
import type { Connector, Receiver, Send } from './receiver.ts';

/** What a receiver of a kind is, besides its name. */
type Opened = Pick<Receiver, 'secrets' | 'resendMs'> & { readonly send: Send };

/** One kind of receivers: which fields its entries have, and how a message is sent. */
export interface ReceiverKind {
  readonly shape: TObject;
  readonly schemes: Schemes;
  /** @param fields checked by `shape` */
  readonly open: (fields: unknown, connector: Connector) => Opened;
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
/** Standard Webhooks asks for 24 to 64 bytes; of a secret that is not base64, Node would sign with what it can read. */
const SECRET_EXPECTED = 'whsec_ and 24 to 64 bytes as base64; openssl rand -base64 32 makes one';
const SECRET = Type.String({
  pattern: '^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
  expected: SECRET_EXPECTED,
});
const PREFIX = 'whsec_';

const ROUTING_KEY = '^[A-Za-z0-9]{32}$';
const PAGERDUTY_URL = 'https://events.pagerduty.com/v2/enqueue';
/** Every kind of receivers. */
export const RECEIVER_KINDS: Readonly<Record<string, ReceiverKind>> = {
  webhook: defineKind({
    fields: {
      url: URL_TEXT,
      secret: Type.Union([SECRET, Type.Array(SECRET, { minItems: 1, maxItems: 5 })], {
        expected: `${SECRET_EXPECTED}; or a list of up to 5 while one is replaced`,
      }),
    },
    open: ({ url, secret }, connector) => {
      const secrets = [secret].flat();
      const all = [...secretsOf(url), ...secrets, ...secrets.map((one) => one.slice(PREFIX.length))];
      return { secrets: all, send: createWebhook(new URL(url), secrets, connector) };
    },
  }),
  slack: defineKind({
    fields: { url: URL_TEXT },
    open: ({ url }, connector) => ({
      secrets: secretsOf(url),
      send: createSlack(new URL(url), connector),
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
      send: createAlertmanager(new URL(url), connector),
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

function defineKind<T extends TProperties>({ fields, schemes = HTTP, open }: Kind<T>): ReceiverKind {
  return {
    schemes,
    shape: Type.Object(
      { ...COMMON, ...fields },
      { additionalProperties: false, expected: 'a map of fields' },
    ),
    // `shape` was checked before.
    open: (value, connector) => open(value as Static<TObject<T>>, connector),
  };
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
