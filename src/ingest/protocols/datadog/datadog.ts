import { headerOf } from '../../../lib/header.ts';
import type { Receipt } from '../../receive.ts';
import {
  type EventRoute,
  type Protocol,
  type ProtocolReply,
  type ProtocolRequest,
  reasonsText,
} from '../protocol.ts';
import { SENT_AT, SHARED } from './decode.ts';

/** Datadog's logs API. */
export const datadog: Protocol = {
  docs: {
    title: 'Datadog',
    tested: '@datadog/datadog-api-client, pino-datadog-transport, winston (HTTP)',
    key: '`DD-API-KEY`',
    timestamp: '`timestamp`, `@timestamp` or `date`, else the header `DD-Message-Timestamp`',
    message: '`message`',
    project: '`project`, or the tag `project`',
    metadata: 'the other members; `ddtags` also as the map `tags`',
    labels: '`service`, `ddsource`, `hostname`, other members',
    answers: '202 `{}`',
  },
  findKey: (request) => headerOf(request, 'dd-api-key') ?? textOf(request.query['dd-api-key']),
  events: [
    route({ path: '/api/v2/logs', id: 'send_datadog' }, 202),
    route({ path: '/v1/input', id: 'send_datadog_v1' }, 200),
  ],
  info: [
    {
      method: 'GET',
      path: '/api/v1/validate',
      summary: 'whether the key may send',
      isOpen: false,
      reply: () => ({ status: 200, body: { valid: true } }),
    },
  ],
  refuse: ({ status, code, message }) => errors(status, code, message),
};

function route({ path, id }: { readonly path: string; readonly id: string }, status: number): EventRoute {
  return {
    ...{ method: 'POST', path, id },
    summary: 'Datadog’s logs API',
    bodies: [
      { type: /^application\/json(?:;|$)/i, shown: 'application/json', format: 'datadog-json' },
      { type: /^text\/plain(?:;|$)/i, shown: 'text/plain', format: 'datadog-lines' },
    ],
    context: contextOf,
    respond: (receipt) => respond(receipt, status),
  };
}

function contextOf(request: ProtocolRequest): Readonly<Record<string, string>> {
  const shared = SHARED.map((name) => [name, textOf(request.query[name])] as const);
  const all = [...shared, [SENT_AT, headerOf(request, 'dd-message-timestamp')] as const];
  return Object.fromEntries(all.flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])));
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function respond(receipt: Receipt, status: number): ProtocolReply {
  if (receipt.refused === 0) return { status, body: {} };
  return errors(400, 'Bad Request', reasonsText(receipt));
}

function errors(status: number, title: string, detail: string): ProtocolReply {
  return { status, body: { errors: [{ status: String(status), title, detail }] } };
}
