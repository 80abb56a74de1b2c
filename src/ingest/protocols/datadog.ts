import { headerOf } from '../../lib/header.ts';
import { type CutOptions, countJsonMarks, createMarkCounter, type Format } from '../body-format.ts';
import type { DocumentShape, SharedMembers, WireDocument } from '../document.ts';
import { readString } from '../json/grammar.ts';
import type { Receipt } from '../receipt.ts';
import { collectEvents, cutDocuments, lineEvents, readShared } from './event-text.ts';
import {
  type EventRoute,
  type Protocol,
  type ProtocolReply,
  type ProtocolRequest,
  reasonsText,
} from './protocol.ts';

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

export const DATADOG_FORMATS = {
  'datadog-json': {
    cut: (bytes, options) => cutDocuments(bytes, readDocument(options), options),
    countMarks: countJsonMarks,
  },
  'datadog-lines': {
    cut(bytes, options) {
      const document = readDocument(options);
      return collectEvents(
        lineEvents(bytes, (line) => ({ line: Buffer.from(`{"message":${line}}`), document })),
        options,
      );
    },
    countMarks: createMarkCounter('\n'),
  },
} as const satisfies Readonly<Record<string, Format>>;

/** Members that the query string may say for all events. */
const SHARED = ['ddsource', 'ddtags', 'hostname', 'service'] as const;

/** The context's name of a time for events that have none. */
const SENT_AT = 'sent at';

const TIMES = ['timestamp', '@timestamp', 'date'];

const SHAPE: DocumentShape = { timestamp: TIMES, message: ['message'] };
const TAGS = { name: 'ddtags', bytes: Buffer.from('ddtags') };

/** Reads what the request says for all events once: a query string may be long, and a body have many events. */
function readDocument({ context }: Pick<CutOptions, 'context'>): WireDocument {
  const given = SHARED.filter((name) => context[name] !== undefined);
  const shared = readShared(JSON.stringify(Object.fromEntries(given.map((name) => [name, context[name]]))));
  const { ddtags, [SENT_AT]: sentAt } = context;
  const tags = ddtags === undefined ? undefined : readTags(ddtags);
  let last: { readonly from: string; readonly tags: SharedMembers } | undefined;
  return {
    ...{ shape: SHAPE, defaults: { timestamp: sentAt && JSON.stringify(sentAt) } },
    ...(given.length > 0 && { shared: { ...shared, chars: shared.chars + (tags?.chars ?? 0) } }),
    derived: {
      from: TAGS,
      write(from) {
        if (from === undefined || from === 'null') return tags;
        if (!from.startsWith('"')) return undefined;
        if (last?.from !== from) last = { from, tags: readTags(readString(from)) };
        return last.tags;
      },
    },
  };
}

/** Reads tags such as `env:prod,version:2` as the map `tags`; one without a colon is empty. */
function readTags(tags: string): SharedMembers {
  const pairs = tags.split(',').flatMap((tag): [string, string][] => {
    const [name = '', ...value] = tag.trim().split(':');
    return name === '' ? [] : [[name, value.join(':')]];
  });
  return readShared(JSON.stringify({ tags: Object.fromEntries(pairs) }));
}
