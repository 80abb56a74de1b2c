import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { chooseSource } from '../../ingest/choose-source.ts';
import { encodeResponse } from '../../ingest/otlp/schema.ts';
import type { Received } from '../../ingest/receive.ts';
import type { HttpContext } from '../context.ts';
import { createIngestAuth } from '../plugins/auth.ts';
import { addBodyParser } from '../plugins/body.ts';
import { type EventRequest, takeEvents } from './take-events.ts';

export const OTLP_PATH = '/v1/logs';

const PROTOBUF = 'application/x-protobuf';

/** Takes log records in by OTLP over HTTP, protobuf and JSON; the answer is in the encoding of the request. */
export async function otlpRoute(app: FastifyInstance, context: HttpContext): Promise<void> {
  const { config, registry, keyring } = context;
  app.removeAllContentTypeParsers();
  addBodyParser(app, { type: PROTOBUF, format: 'otlp-protobuf', limits: config });
  addBodyParser(app, { type: 'application/json', format: 'otlp-json', limits: config });
  app.post(OTLP_PATH, { onRequest: createIngestAuth(keyring) }, async (request: EventRequest, reply) => {
    const { query, headers } = request;
    const received = await takeEvents(request, context, () =>
      chooseSource(registry, { query, headers, fields: {} }, config.otlpSource),
    );
    return answer(request, reply, received);
  });
}

function answer(request: FastifyRequest, reply: FastifyReply, { refused, reasons }: Received): FastifyReply {
  const message = reasons.join('; ');
  if (request.headers['content-type']?.startsWith(PROTOBUF) === true) {
    return reply.type(PROTOBUF).send(Buffer.from(encodeResponse(refused, message)));
  }
  // 64-bit integers are texts in OTLP's JSON.
  const partialSuccess = { rejectedLogRecords: String(refused), errorMessage: message };
  return reply.send(refused === 0 ? {} : { partialSuccess });
}
