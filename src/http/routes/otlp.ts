import type { FastifyReply } from 'fastify';
import { encodeResponse } from '../../ingest/otlp/check.ts';
import type { Received } from '../../ingest/receipt.ts';
import { defineRoute, json, type RouteGroup, textParameter } from '../route.ts';
import {
  addBodyParser,
  type EventRequest,
  findSourceOf,
  type IngestParts,
  takeEvents,
} from './take-events.ts';

const PROTOBUF = 'application/x-protobuf';

/** Accepts log records by OTLP over HTTP, protobuf and JSON; the response has the encoding of the request. */
export const otlpRoutes: RouteGroup<IngestParts> = {
  setup(app, parts) {
    app.removeAllContentTypeParsers();
    addBodyParser(app, parts, { type: PROTOBUF, format: 'otlp-protobuf' });
    addBodyParser(app, parts, { type: 'application/json', format: 'otlp-json' });
  },
  routes: [
    defineRoute({
      method: 'POST',
      path: '/v1/logs',
      scopes: ['ingest'],
      keyInQuery: true,
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
      handle: async (parts: IngestParts, request: EventRequest, reply) => {
        const source = findSourceOf(request, parts);
        return respond(request, reply, await takeEvents(request, parts, { source, protocol: 'otlp' }));
      },
    }),
  ],
};

function respond(request: EventRequest, reply: FastifyReply, { refused, reasons }: Received): FastifyReply {
  const message = reasons.join('; ');
  if (request.headers['content-type']?.startsWith(PROTOBUF) === true)
    return reply.type(PROTOBUF).send(Buffer.from(encodeResponse(refused, message)));
  // 64-bit integers are texts in OTLP's JSON.
  const partialSuccess = { rejectedLogRecords: String(refused), errorMessage: message };
  return reply.send(refused === 0 ? {} : { partialSuccess });
}
