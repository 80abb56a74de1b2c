import type { FastifyReply } from 'fastify';
import { PROTOCOL_NAMES, type ProtocolName } from '../../definitions/accepts.ts';
import type { TailraceError } from '../../errors.ts';
import { encodeResponse } from '../../ingest/otlp/check.ts';
import { elasticsearch } from '../../ingest/protocols/elasticsearch.ts';
import { loki } from '../../ingest/protocols/loki.ts';
import type { Protocol, ProtocolReply } from '../../ingest/protocols/protocol.ts';
import type { Received } from '../../ingest/rejected.ts';
import { headerParameter, list, object, queryParameter, type Schema } from '../openapi/schema.ts';
import { sendProtocolReply } from '../plugins/errors.ts';
import { defineGroup, defineRoute, json, operation, type Route } from '../route.ts';
import { addBodyParser, type EventRequest, takeEvents } from './take-events.ts';

/** Logflare's paths; all are the same. */
const INGEST_PATHS = ['/api/logs', '/logs', '/api/events'].flatMap((path) =>
  ['', '/json', '/vector'].map((end) => `${path}${end}`),
);

// The type of forms is that of `curl -d`, which people try first; forms themselves are no JSON.
const BODIES = [
  { type: /^application\/(?:(?:[\w.-]+\+)?json|x-www-form-urlencoded) *(?:;|$)/i, format: 'json' },
  { type: /^application\/(?:x-)?ndjson *(?:;|$)/i, format: 'ndjson' },
] as const;

// Browsers send logs too. The key is in a header, never in a cookie, so any origin may try.
const ANY_ORIGIN = {
  origin: '*',
  methods: ['POST'],
  allowedHeaders:
    'authorization, content-encoding, content-type, idempotency-key, x-api-key, x-collection, x-project, x-source',
};

const EVENT: Schema = {
  type: 'object',
  properties: {
    event_message: { type: 'string' },
    timestamp: {
      description: 'ISO 8601, or a number of seconds, milliseconds, microseconds or nanoseconds.',
    },
    metadata: { type: 'object' },
    project: { type: 'string' },
  },
  additionalProperties: true,
};

/** Accepts events by Logflare's protocol. The response is sent when they are stored. */
export const ingestRoutes = defineGroup({
  tag: 'events',
  setup: addBodyParser,
  routes: [
    defineRoute({
      method: 'POST',
      path: INGEST_PATHS,
      scopes: ['ingest'],
      keyInQuery: true,
      cors: ANY_ORIGIN,
      bodies: BODIES,
      summary: 'Send events',
      id: 'send_events',
      description:
        'One event, a list of them, `{"batch":[…]}`, or NDJSON. The response is sent when they are on disk.',
      parameters: [
        queryParameter('source', 'UUID or name of the source.'),
        queryParameter('source_name', 'The same.'),
        queryParameter('api_key', 'The key, for senders that cannot set a header.'),
        headerParameter('X-Project', 'Project of events that do not name one.'),
        headerParameter('Idempotency-Key', 'Events that are sent again with the same one are stored once.'),
      ],
      body: {
        required: true,
        content: {
          'application/json': {
            schema: { oneOf: [EVENT, list(EVENT), object({ batch: list(EVENT) })] },
            example: [{ event_message: 'GET /rest/v1/items 200', project: 'aurora', metadata: {} }],
          },
          'application/x-ndjson': { schema: { type: 'string' } },
        },
      },
      answer: {
        200: json('All events are stored.', object({ message: { const: 'Logged!' } })),
        406: json(
          'Some events were rejected, for these reasons; the good ones are stored.',
          object({ message: list({ type: 'string' }) }),
        ),
      },
      errors: ['source_not_found', 'overloaded'],
      handle: async (parts, request: EventRequest, reply) =>
        respond(reply, await takeEvents({ request, reply }, parts)),
    }),
  ],
});

/** As Logflare's clients expect it: 406 with the reasons if events were rejected; the other events are stored. */
function respond(reply: FastifyReply, { rejected, reasons }: Received): FastifyReply {
  if (rejected === 0) return reply.send({ message: 'Logged!' });
  const more = rejected > reasons.length ? [`and ${rejected - reasons.length} more`] : [];
  return reply.code(406).send({ message: [...reasons, ...more] });
}

const PROTOBUF = 'application/x-protobuf';
const OTLP_BODIES = [
  { type: /^application\/x-protobuf *(?:;|$)/i, format: 'otlp-protobuf' },
  { type: /^application\/json *(?:;|$)/i, format: 'otlp-json' },
] as const;

const OTLP_BODY: Schema = { type: 'object', properties: { resourceLogs: list({ type: 'object' }) } };
const OTLP_ANSWER: Schema = { type: 'object', properties: { partialSuccess: { type: 'object' } } };

/** Accepts log records by OTLP over HTTP, protobuf and JSON; the response has the encoding of the request. */
export const otlpRoutes = defineGroup({
  tag: 'events',
  setup: addBodyParser,
  routes: [
    operation('send_otlp_logs', 'POST /v1/logs', ['ingest'], {
      keyInQuery: true,
      bodies: OTLP_BODIES,
      summary: 'Send log records by OpenTelemetry’s protocol',
      parameters: [
        headerParameter(
          'X-Source',
          'Source of the records; without it the one that accepts each, else `logs`.',
        ),
        headerParameter('X-Project', 'Project of records that do not name one.'),
      ],
      body: {
        required: true,
        content: {
          'application/json': { schema: OTLP_BODY },
          'application/x-protobuf': { schema: {} },
        },
      },
      answer: {
        200: json('The good records are stored.', OTLP_ANSWER),
      },
      errors: ['source_not_found', 'overloaded'],
      handle: async (parts, request: EventRequest, reply) =>
        answerOtlp(request, reply, await takeEvents({ request, reply }, parts, { protocol: 'otlp' })),
    }),
  ],
});

function answerOtlp({ headers }: EventRequest, reply: FastifyReply, { rejected, reasons }: Received) {
  const message = reasons.join('; ');
  if (headers['content-type']?.startsWith(PROTOBUF) === true)
    return reply.type(PROTOBUF).send(Buffer.from(encodeResponse(rejected, message)));
  // 64-bit integers are texts in OTLP's JSON.
  const partialSuccess = { rejectedLogRecords: String(rejected), errorMessage: message };
  return reply.send(rejected === 0 ? {} : { partialSuccess });
}

/**
 * The protocols of log senders besides Logflare's and OTLP, in the order of docs/ingest.md. A new one is a file of
 * ingest/protocols/, a line in this table, its formats in wire-events.ts, its name in definitions/accepts.ts, and what
 * scripts/docs/protocols.ts says about it.
 */
export const PROTOCOLS: Readonly<Record<ProtocolName, Protocol>> = { loki, elasticsearch };

/** Accepts events by these protocols. */
export const protocolRoutes = defineGroup({
  tag: 'events',
  setup: addBodyParser,
  routes: PROTOCOL_NAMES.flatMap(createProtocolRoutes),
});

function createProtocolRoutes(name: ProtocolName): Route[] {
  const protocol = PROTOCOLS[name];
  const { projectHeader, findKey, info } = protocol;
  const { respond, bodies, ...events } = protocol.events;
  const withHeaders = (reply: ProtocolReply): ProtocolReply => ({
    ...reply,
    headers: { ...protocol.headers, ...reply.headers },
  });
  const writeError = (failure: TailraceError) => withHeaders(protocol.reject(failure));
  const shared = { scopes: ['ingest'], findKey, writeError } as const;
  const eventRoute = defineRoute({
    ...{ ...shared, ...events, bodies },
    parameters: [
      headerParameter('X-Source', 'Source of all events; without it that which accepts each.'),
      headerParameter('X-Project', 'Project of events that do not name one.'),
    ],
    body: { required: true, content: Object.fromEntries(bodies.map(({ shown }) => [shown, { schema: {} }])) },
    answer: { 200: { description: 'See docs/ingest.md.' } },
    errors: ['source_not_found', 'overloaded'],
    handle: async (parts, request: EventRequest, reply) => {
      const index = request.params['index'];
      const receipt = await takeEvents({ request, reply }, parts, { protocol: name, index, projectHeader });
      return sendProtocolReply(reply, withHeaders(respond(receipt, request)));
    },
  });
  const infoRoutes = info.map(({ reply: answer, ...about }) =>
    defineRoute({
      ...{ ...shared, ...about },
      answer: { 200: { description: 'As the protocol has it.' } },
      handle: async (_parts, request: EventRequest, reply) =>
        sendProtocolReply(reply, withHeaders(answer(request))),
    }),
  );
  return [eventRoute, ...infoRoutes];
}
