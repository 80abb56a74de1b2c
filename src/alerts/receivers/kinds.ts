import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { isDecodable } from '../../config/url.ts';
import { createShapeCheck } from '../../definitions/shape.ts';
import { createEmail } from './email.ts';
import {
  alertmanagerUrl,
  createPosting,
  RESEND_MS,
  toAlertmanager,
  toPagerDuty,
  toSlack,
  toWebhook,
} from './http.ts';
import type { Receiver, Target } from './receiver.ts';

/** One kind of receivers: which fields its entries have, and how a message is sent. */
export interface ReceiverKind {
  readonly shape: TObject;
  /** Finds the faults of an entry's fields; no message has a value of them. */
  readonly check: ReturnType<typeof createShapeCheck>;
  readonly schemes: Schemes;
  /** @param fields checked by `check` */
  readonly open: (fields: unknown, connector: Omit<Target, 'url'>) => Opened;
}

type Opened = Pick<Receiver, 'secrets' | 'resendMs' | 'send'>;

/** What a receiver's `url` begins with. */
interface Schemes {
  readonly all: readonly string[];
  /** Allowed as well if the entry says `private: true`. */
  readonly private: readonly string[];
  readonly example: string;
}

const COMMON = { kind: Type.String(), private: Type.Optional(Type.Boolean({ expected: 'true or false' })) };
const URL_TEXT = Type.String({ minLength: 1, maxLength: 2_000, expected: 'a URL' });
const ADDRESS = Type.String({
  // Neither quotes nor control characters, which could begin another header.
  pattern: '^[A-Za-z0-9.!#$%&*+/=?^_{|}~-]{1,64}@[A-Za-z0-9.-]{1,253}$',
  expected: 'an address, such as ops@example.com',
});
const HTTP: Schemes = { all: ['https:'], private: ['http:'], example: 'https://hooks.example.com/alerts' };
// Without `private: true`, smtp: changes to TLS or fails.
const SMTP: Schemes = {
  all: ['smtps:', 'smtp:'],
  private: [],
  example: 'smtps://user:password@smtp.example.com',
};
/** Standard Webhooks asks for 24 to 64 bytes; of a secret that is not base64, Node would sign with what it can read. */
const SECRET_EXPECTED = 'whsec_ and 24 to 64 bytes as base64; openssl rand -base64 32 makes one';
const SECRET = Type.String({
  pattern: '^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
  expected: SECRET_EXPECTED,
});
const PREFIX = 'whsec_';
const SECRETS = Type.Union([SECRET, Type.Array(SECRET, { minItems: 1, maxItems: 5 })], {
  expected: `${SECRET_EXPECTED}; or a list of up to 5 while one is replaced`,
});
const ROUTING_KEY = Type.String({
  pattern: '^[A-Za-z0-9]{32}$',
  expected: 'the 32 letters and digits of an integration key of the Events API v2',
});
const ADDRESSES = Type.Array(ADDRESS, { minItems: 1, maxItems: 50, expected: 'a list of 1 to 50 addresses' });

/** Every kind of receivers. */
export const RECEIVER_KINDS: Readonly<Record<string, ReceiverKind>> = {
  webhook: defineKind({ secret: SECRETS }, (target, { secret }) => ({
    secrets: [secret].flat().flatMap((one) => [one, one.slice(PREFIX.length)]),
    send: createPosting(target, (outgoing) => [toWebhook(outgoing, [secret].flat())]),
  })),
  slack: defineKind({}, (target) => ({
    send: createPosting(target, (outgoing) => [{ body: toSlack(outgoing) }]),
  })),
  pagerduty: defineKind(
    { routing_key: ROUTING_KEY },
    (target, { routing_key: key }) => ({
      secrets: [key],
      send: createPosting(target, (outgoing) => toPagerDuty(outgoing, key).map((body) => ({ body }))),
    }),
    { defaultUrl: 'https://events.pagerduty.com/v2/enqueue' },
  ),
  alertmanager: defineKind({}, ({ url, ...target }) => ({
    resendMs: RESEND_MS,
    send: createPosting({ ...target, url: alertmanagerUrl(url) }, (outgoing) => [
      { body: toAlertmanager(outgoing) },
    ]),
  })),
  email: defineKind(
    { from: ADDRESS, to: ADDRESSES },
    (target, addresses) => ({ send: createEmail(target, addresses) }),
    { schemes: SMTP },
  ),
};

/**
 * @param fields besides `kind`, `private` and `url`
 * @param open returns the secrets besides those of the URL
 * @param options without `defaultUrl`, an entry has to have a URL
 */
function defineKind<T extends TProperties>(
  fields: T,
  open: (target: Target, fields: Static<TObject<T>>) => Omit<Opened, 'secrets'> & Partial<Opened>,
  { defaultUrl, schemes = HTTP }: { readonly defaultUrl?: string; readonly schemes?: Schemes } = {},
): ReceiverKind {
  const url = defaultUrl === undefined ? URL_TEXT : Type.Optional(URL_TEXT);
  const rules = { additionalProperties: false, expected: 'a map of fields' };
  const shape = Type.Object({ ...COMMON, url, ...fields }, rules);
  return {
    ...{ shape, schemes, check: createShapeCheck(shape, { showsValues: false }) },
    open(value, connector) {
      const entry = value as Static<TObject<T>> & { readonly url?: string }; // as `check` has found
      const text = entry.url ?? defaultUrl ?? '';
      const opened = open({ ...connector, url: new URL(text) }, entry);
      return { ...opened, secrets: [...secretsOf(text), ...(opened.secrets ?? [])] };
    },
  };
}

// Shorter parts of a path cannot be keys, and hiding them would make reasons unreadable.
const PART_CHARS_MIN = 8;
const SEGMENT_CHARS_MIN = 12;
const PASSWORD_CHARS_MIN = 4;

/** Returns what may be secret of a URL: the path of Slack's is its key, and a response may repeat only a part of it. */
function secretsOf(text: string): string[] {
  const { username, password, pathname, search, searchParams } = new URL(text);
  const atLeast = (chars: number, ...parts: readonly string[]) =>
    parts
      .flatMap((part) => (isDecodable(part) ? [part, decodeURIComponent(part)] : [part]))
      .filter(({ length }) => length >= chars);
  const parts = [
    ...atLeast(PASSWORD_CHARS_MIN, password),
    ...atLeast(PART_CHARS_MIN, username, pathname, search, ...searchParams.values()),
    ...atLeast(SEGMENT_CHARS_MIN, ...pathname.split('/')),
  ];
  return [...new Set(parts)];
}
