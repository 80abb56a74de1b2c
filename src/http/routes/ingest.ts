import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Received } from '../../ingest/idempotency/idempotency.ts';
import { findSource } from '../../ingest/source-name.ts';
import type { HttpContext } from '../context.ts';
import { createIngestAuth } from '../plugins/auth.ts';
import { addBodyParser } from '../plugins/body.ts';
import { type EventRequest, takeEvents } from './take-events.ts';

/** Logflare's paths, each also with `/json` and `/vector` appended; all do the same. */
export const INGEST_PATHS = ['/api/logs', '/logs', '/api/events'].flatMap((path) => [
  path,
  `${path}/json`,
  `${path}/vector`,
]);

const JSON_TYPES = /^application\/(?:[\w.-]+\+)?json(?:;|$)/i;
const NDJSON_TYPES = /^application\/(?:x-)?ndjson(?:;|$)/i;

// Browsers send logs too. The key is in a header, never in a cookie, so any origin may try.
const ANY_ORIGIN = {
  origin: '*',
  methods: ['POST'],
  allowedHeaders: [
    'authorization',
    'content-encoding',
    'content-type',
    'idempotency-key',
    'x-api-key',
    'x-collection',
    'x-project',
    'x-source',
  ],
};

/** Receives events by Logflare's protocol. The response is sent when they are stored. */
export async function ingestRoutes(app: FastifyInstance, context: HttpContext): Promise<void> {
  const { config, registry, keyring } = context;
  app.removeAllContentTypeParsers();
  addBodyParser(app, { type: JSON_TYPES, format: 'json', limits: config });
  addBodyParser(app, { type: NDJSON_TYPES, format: 'ndjson', limits: config });
  for (const path of INGEST_PATHS) {
    const config = { cors: ANY_ORIGIN };
    app.options(path, { config }, () => {}); // plugins/cors.ts responds before
    app.post(path, { config, onRequest: createIngestAuth(keyring) }, async (request: EventRequest, reply) => {
      return respond(reply, await takeEvents(request, context, findSource(registry, request)));
    });
  }
}

/** As Logflare's clients expect: 406 with the reasons if events were refused, although the good ones are stored. */
function respond(reply: FastifyReply, { refused, reasons }: Received): FastifyReply {
  if (refused === 0) return reply.send({ message: 'Logged!' });
  const more = refused > reasons.length ? [`and ${refused - reasons.length} more`] : [];
  return reply.code(406).send({ message: [...reasons, ...more] });
}
