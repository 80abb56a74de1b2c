import type { ErrorCode } from '../../../errors.ts';
import type { Receipt } from '../../receive.ts';
import {
  type EventRoute,
  findBasicKey,
  findCredentials,
  type Protocol,
  type ProtocolReply,
  type ProtocolRequest,
  reasonsText,
} from '../protocol.ts';
import { ORIGINS } from './decode.ts';

// Senders send any Content-Type, or none.
const ANY_TYPE = /^/;
const SUCCESS = { text: 'Success', code: 0 };

type Answer = readonly [status: number, code: number, text: string];

/** What Splunk's HTTP Event Collector responds, by our code. */
const ANSWERS: Readonly<Partial<Record<ErrorCode, Answer>>> = {
  unauthorized: [401, 3, 'Invalid authorization'],
  forbidden: [403, 4, 'Invalid token'],
  source_not_found: [400, 7, 'Incorrect index'],
  body_too_large: [413, 27, 'Request entity too large'],
  rate_limited: [503, 9, 'Server is busy'],
  overloaded: [503, 9, 'Server is busy'],
  engine_unavailable: [503, 9, 'Server is busy'],
  internal: [500, 8, 'Internal server error'],
};
const NO_DATA: Answer = [400, 5, 'No data'];
const INVALID: Answer = [400, 6, 'Invalid data format'];

/** Splunk's HTTP Event Collector (HEC). */
export const splunk: Protocol = {
  docs: {
    title: 'Splunk HEC',
    tested: 'splunk-logging',
    key: '`Authorization: Splunk`, or the password of `Basic`',
    timestamp: '`time`',
    message: '`event`, its `message` or `msg`; at `/raw` each line',
    project: '`project` of `event` or `fields`',
    metadata: 'members of `event` and `fields`; `host`, `source`, `sourcetype`, `index`',
    labels: '`host`, `source`, `sourcetype`, `index`',
    answers: '200 `{"text":"Success","code":0}`; 400 with code 6; 503 with code 9',
  },
  findKey: (request) => findCredentials(request, 'Splunk') ?? findBasicKey(request),
  events: [
    route({
      path: ['/services/collector', '/services/collector/event', '/services/collector/event/1.0'],
      summary: 'Splunk’s HTTP Event Collector',
      id: 'send_hec',
      format: 'splunk-events',
    }),
    route({
      path: ['/services/collector/raw', '/services/collector/raw/1.0'],
      summary: 'The same, by lines',
      id: 'send_hec_raw',
      format: 'splunk-lines',
    }),
  ],
  info: [
    {
      method: 'GET',
      path: ['/services/collector/health', '/services/collector/health/1.0'],
      summary: 'its health',
      isOpen: true,
      reply: () => ({ status: 200, body: { text: 'HEC is healthy', code: 17 } }),
    },
  ],
  refuse: ({ code, message }) => toReply(ANSWERS[code] ?? INVALID, { message }),
};

function route({
  path,
  summary,
  id,
  format,
}: Pick<EventRoute, 'path' | 'summary'> & {
  readonly id: string;
  readonly format: 'splunk-events' | 'splunk-lines';
}): EventRoute {
  return {
    ...{ method: 'POST', path, summary, id },
    bodies: [{ type: ANY_TYPE, shown: 'application/json', format }],
    context: originsOf,
    respond,
  };
}

/** What the query string says about the lines of `/raw`. */
function originsOf({ query }: ProtocolRequest): Readonly<Record<string, string>> {
  return Object.fromEntries(
    ORIGINS.flatMap((name) => {
      const value = query[name];
      return typeof value === 'string' && value !== '' ? [[name, value]] : [];
    }),
  );
}

function respond(receipt: Receipt): ProtocolReply {
  const { stored, refused, refusals } = receipt;
  if (stored + refused === 0) return toReply(NO_DATA, {});
  if (refused === 0) return { status: 200, body: SUCCESS };
  return toReply(INVALID, {
    'invalid-event-number': refusals[0]?.at ?? 0,
    message: reasonsText(receipt),
  });
}

function toReply([status, code, text]: Answer, more: Readonly<Record<string, unknown>>): ProtocolReply {
  return { status, body: { text, code, ...more } };
}
