import type { FastifyReply } from 'fastify';
import { encodeResponse } from '../../ingest/otlp/check.ts';
import type { Received } from '../../ingest/receipt.ts';
import { list, object, type Schema } from '../openapi/schema.ts';
import { defineRoute, json, type RouteGroup, textParameter } from '../route.ts';
import { addBodyParser, type EventRequest, type IngestParts, takeEvents } from './take-events.ts';

/** Logflare's paths, each also with `/json` and `/vector` appended; all are the same. */
const INGEST_PATHS = ['/api/logs', '/logs', '/api/events'].flatMap((path) => [
  path,
  `${path}/json`,
  `${path}/vector`,
]);

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
export const ingestRoutes: RouteGroup<IngestParts> = {
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
      operation: {
        id: 'send_events',
        tag: 'events',
        description:
          'One event, a list of them, `{"batch":[…]}`, or NDJSON. The response is sent when they are on disk.',
      },
      parameters: [
        textParameter('query', 'source', 'UUID or name of the source.'),
        textParameter('query', 'source_name', 'The same.'),
        textParameter('query', 'api_key', 'The key, for senders that cannot set a header.'),
        textParameter('header', 'X-Project', 'Project of events that do not name one.'),
        textParameter(
          'header',
          'Idempotency-Key',
          'Events that are sent again with the same one are stored once.',
        ),
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
      handle: async (parts: IngestParts, request: EventRequest, reply) =>
        respond(reply, await takeEvents({ request, reply }, parts)),
    }),
  ],
};

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

/** Accepts log records by OTLP over HTTP, protobuf and JSON; the response has the encoding of the request. */
export const otlpRoutes: RouteGroup<IngestParts> = {
  setup: addBodyParser,
  routes: [
    defineRoute({
      method: 'POST',
      path: '/v1/logs',
      scopes: ['ingest'],
      keyInQuery: true,
      bodies: OTLP_BODIES,
      summary: 'Send log records by OpenTelemetry’s protocol',
      operation: { id: 'send_otlp_logs', tag: 'events' },
      parameters: [
        textParameter(
          'header',
          'X-Source',
          'Source of the records; without it the one that accepts each, else `logs`.',
        ),
        textParameter('header', 'X-Project', 'Project of records that do not name one.'),
      ],
      body: {
        required: true,
        content: {
          'application/json': {
            schema: {
              type: 'object',
              properties: { resourceLogs: { type: 'array', items: { type: 'object' } } },
            },
          },
          'application/x-protobuf': { schema: {} },
        },
      },
      answer: {
        200: json('The good records are stored.', {
          type: 'object',
          properties: { partialSuccess: { type: 'object' } },
        }),
      },
      errors: ['source_not_found', 'overloaded'],
      handle: async (parts: IngestParts, request: EventRequest, reply) =>
        answerOtlp(request, reply, await takeEvents({ request, reply }, parts, { protocol: 'otlp' })),
    }),
  ],
};

function answerOtlp(
  request: EventRequest,
  reply: FastifyReply,
  { rejected, reasons }: Received,
): FastifyReply {
  const message = reasons.join('; ');
  if (request.headers['content-type']?.startsWith(PROTOBUF) === true)
    return reply.type(PROTOBUF).send(Buffer.from(encodeResponse(rejected, message)));
  // 64-bit integers are texts in OTLP's JSON.
  const partialSuccess = { rejectedLogRecords: String(rejected), errorMessage: message };
  return reply.send(rejected === 0 ? {} : { partialSuccess });
}
