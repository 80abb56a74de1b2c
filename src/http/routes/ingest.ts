import cors from '@fastify/cors';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { chooseSource } from '../../ingest/choose-source.ts';
import type { Received } from '../../ingest/receive.ts';
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

/** Takes events in by Logflare's protocol. The answer is sent when they are stored. */
export async function ingestRoutes(app: FastifyInstance, context: HttpContext): Promise<void> {
  const { config, registry, keyring } = context;
  await allowBrowsers(app);
  app.removeAllContentTypeParsers();
  addBodyParser(app, { type: JSON_TYPES, format: 'json', limits: config });
  addBodyParser(app, { type: NDJSON_TYPES, format: 'ndjson', limits: config });
  for (const path of INGEST_PATHS) {
    app.post(path, { onRequest: createIngestAuth(keyring) }, async (request: EventRequest, reply) => {
      const { query, headers } = request;
      const received = await takeEvents(request, context, (fields) =>
        chooseSource(registry, { query, headers, fields }),
      );
      return answer(reply, received);
    });
  }
}

/** Browsers send logs too. The key is in a header, never in a cookie, so any origin may try. */
async function allowBrowsers(app: FastifyInstance): Promise<void> {
  // The plugin adds a route for OPTIONS on every path there is; with its own `cors: false` that is a plain 404.
  app.addHook('onRoute', (route) => {
    if (route.url === '*') route.config = { ...route.config, cors: false };
  });
  await app.register(cors, {
    origin: '*',
    methods: ['POST'],
    allowedHeaders: ALLOWED_HEADERS,
    maxAge: PREFLIGHT_SECONDS,
    strictPreflight: false, // OPTIONS by hand gets the same answer
  });
  for (const path of INGEST_PATHS) app.options(path, () => {}); // answered by the plugin's hook
}

const ALLOWED_HEADERS = [
  'authorization',
  'content-encoding',
  'content-type',
  'idempotency-key',
  'x-api-key',
  'x-collection',
  'x-project',
  'x-source',
];
const PREFLIGHT_SECONDS = 86_400;

/** What Logflare's clients expect: 406 with the reasons when events were refused, the good ones being stored all the same. */
function answer(reply: FastifyReply, { refused, reasons }: Received): FastifyReply {
  if (refused === 0) return reply.send({ message: 'Logged!' });
  const more = refused > reasons.length ? [`and ${refused - reasons.length} more`] : [];
  return reply.code(406).send({ message: [...reasons, ...more] });
}
