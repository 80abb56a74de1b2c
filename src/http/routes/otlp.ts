import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Source } from '../../definitions/source.ts';
import type { Received } from '../../ingest/idempotency/idempotency.ts';
import { encodeResponse } from '../../ingest/otlp/schema.ts';
import { findSource, refuseExternal } from '../../ingest/source-name.ts';
import type { HttpContext } from '../context.ts';
import { createIngestAuth } from '../plugins/auth.ts';
import { addBodyParser } from '../plugins/body.ts';
import { type EventRequest, takeEvents } from './take-events.ts';

export const OTLP_PATH = '/v1/logs';

const PROTOBUF = 'application/x-protobuf';

/** Receives log records by OTLP over HTTP, protobuf and JSON; the response has the encoding of the request. */
export async function otlpRoute(app: FastifyInstance, context: HttpContext): Promise<void> {
  const { config, registry, keyring } = context;
  app.removeAllContentTypeParsers();
  addBodyParser(app, { type: PROTOBUF, format: 'otlp-protobuf', limits: config });
  addBodyParser(app, { type: 'application/json', format: 'otlp-json', limits: config });
  app.post(OTLP_PATH, { onRequest: createIngestAuth(keyring) }, async (request: EventRequest, reply) => {
    const source = findSource(registry, request) ?? configuredSource(context);
    return respond(request, reply, await takeEvents(request, context, source));
  });
}

function configuredSource({ config: { otlpSource }, registry }: HttpContext): Source | undefined {
  return otlpSource === '' ? undefined : refuseExternal(registry.getSource(otlpSource));
}

function respond(request: FastifyRequest, reply: FastifyReply, { refused, reasons }: Received): FastifyReply {
  const message = reasons.join('; ');
  if (request.headers['content-type']?.startsWith(PROTOBUF) === true) {
    return reply.type(PROTOBUF).send(Buffer.from(encodeResponse(refused, message)));
  }
  // 64-bit integers are strings in OTLP's JSON.
  const partialSuccess = { rejectedLogRecords: String(refused), errorMessage: message };
  return reply.send(refused === 0 ? {} : { partialSuccess });
}
