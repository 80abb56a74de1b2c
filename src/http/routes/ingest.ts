import type { FastifyInstance, FastifyReply } from 'fastify';
import { chooseSource } from '../../ingest/choose-source.ts';
import type { Received } from '../../ingest/receive.ts';
import { WITHOUT_PROJECT_HEADER } from '../../ingest/without-project.ts';
import type { HttpContext } from '../context.ts';
import { createIngestAuth } from '../plugins/auth.ts';
import { addBodyParser } from '../plugins/body.ts';
import { type EventRequest, takeEvents } from './take-events.ts';

/** Logflare's paths, each also with `/json` and `/vector` behind it; all do the same. */
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

/** Takes events in by Logflare's protocol. The answer is sent when they are stored. */
export async function ingestRoutes(app: FastifyInstance, context: HttpContext): Promise<void> {
  const { config, registry, keyring } = context;
  app.removeAllContentTypeParsers();
  addBodyParser(app, { type: JSON_TYPES, format: 'json', limits: config });
  addBodyParser(app, { type: NDJSON_TYPES, format: 'ndjson', limits: config });
  for (const path of INGEST_PATHS) {
    const config = { cors: ANY_ORIGIN };
    app.options(path, { config }, () => {}); // answered before by plugins/cors.ts
    app.post(path, { config, onRequest: createIngestAuth(keyring) }, async (request: EventRequest, reply) => {
      const { query, headers } = request;
      const received = await takeEvents(request, context, (fields) =>
        chooseSource(registry, { query, headers, fields }),
      );
      return answer(reply, received);
    });
  }
}

/** What Logflare's clients expect: 406 with the reasons when events were refused, the good ones being stored all the same. */
function answer(reply: FastifyReply, { refused, reasons, withoutProject = 0 }: Received): FastifyReply {
  if (withoutProject > 0) reply.header(WITHOUT_PROJECT_HEADER, withoutProject);
  if (refused === 0) return reply.send({ message: 'Logged!' });
  const more = refused > reasons.length ? [`and ${refused - reasons.length} more`] : [];
  return reply.code(406).send({ message: [...reasons, ...more] });
}
