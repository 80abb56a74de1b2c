import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AcceptedProtocol } from '../../definitions/accepts.ts';
import { TailraceError } from '../../errors.ts';
import type { BodyFormat, EventBody } from '../../ingest/body-format.ts';
import { elasticsearch } from '../../ingest/protocols/elasticsearch.ts';
import { loki } from '../../ingest/protocols/loki.ts';
import { otlp } from '../../ingest/protocols/otlp.ts';
import { findQueryKey, type Protocol, type ProtocolReply } from '../../ingest/protocols/protocol.ts';
import { decodedBytesMaxOf, readBody } from '../../ingest/read-body.ts';
import { DROPPED_HEADER, type Receipt, WITHOUT_PROJECT_HEADER } from '../../ingest/rejected.ts';
import { findSource } from '../../ingest/source-name.ts';
import { isListed } from '../../keys/grant.ts';
import type { Caller } from '../../keys/keyring.ts';
import { getAllowedSource, hideMissing, requireSource } from '../../keys/named.ts';
import { headerOf } from '../../lib/network.ts';
import { OWNER } from '../../query/pins.ts';
import { headerParameter, list, object, queryParameter, type Schema } from '../openapi/schema.ts';
import type { AppParts } from '../parts.ts';
import { rejectType, sendProtocolReply } from '../plugins/errors.ts';
import { defineGroup, defineRoute, getCaller, json, operation, type RawQuery, type Route } from '../route.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The bodies of a route for events; see `addBodyParser`. */
    eventBodies?: readonly EventBody[];
  }
}

/** A request with events in its body, which is decompressed. */
type EventRequest = FastifyRequest<{
  Params: Readonly<Record<string, string>>;
  Querystring: RawQuery;
  Body: { readonly bytes: Buffer; readonly format: BodyFormat } | undefined;
}>;

/** Failures of the routes to which events are sent. Each responds when the events are stored. */
const ERRORS = ['source_not_found', 'overloaded'] as const;

/** Logflare's paths; each does the same, with and without a suffix. */
const INGEST_PLACES = ['/api/logs', '/logs', '/api/events'].flatMap((path) =>
  ['', '/json', '/vector'].map((end) => `POST ${path}${end}` as const),
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

const sendEvents = operation('send_events', INGEST_PLACES, ['ingest'], {
  findKey: findQueryKey,
  cors: ANY_ORIGIN,
  bodies: BODIES,
  errors: ERRORS,
  summary: 'Send events',
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
  handle: async (parts, request: EventRequest, reply) =>
    respond(reply, await takeEvents({ request, reply }, parts)),
});

/** As Logflare's clients expect it: 406 with the reasons if events were rejected; the other events are stored. */
function respond(reply: FastifyReply, { rejected, reasons }: Receipt): FastifyReply {
  if (rejected === 0) return reply.send({ message: 'Logged!' });
  const more = rejected > reasons.length ? [`and ${rejected - reasons.length} more`] : [];
  return reply.code(406).send({ message: [...reasons, ...more] });
}

/**
 * The protocols of log senders besides Logflare's, in the order of docs/ingest.md. A new one is a file of
 * ingest/protocols/, a line in this table, its formats in wire-events.ts, its name in definitions/accepts.ts, and what
 * scripts/docs/protocols.ts says about it.
 */
export const PROTOCOLS: Readonly<Record<AcceptedProtocol, Protocol>> = { otlp, loki, elasticsearch };

function createProtocolRoutes(name: AcceptedProtocol): Route[] {
  const { events, info = [], headers: always, findKey, reject } = PROTOCOLS[name];
  const { respond, bodies, id, places, summary } = events;
  const withHeaders = (one: ProtocolReply) => ({ ...one, headers: { ...always, ...one.headers } });
  const writeError = reject && ((failure: TailraceError) => withHeaders(reject(failure)));
  const shared = { ...(findKey && { findKey }), ...(writeError && { writeError }) };
  const eventRoute = operation(id, places, ['ingest'], {
    ...{ ...shared, summary, bodies, errors: ERRORS },
    parameters: [
      headerParameter('X-Source', 'Source of all events; without it the one that accepts each, else `logs`.'),
      headerParameter('X-Project', 'Project of events that do not name one.'),
    ],
    body: {
      required: true,
      content: Object.fromEntries(bodies.map(({ shown, schema = {} }) => [shown, { schema }])),
    },
    answer: {
      200: { description: 'The good events are stored; docs/ingest.md has the form of the response.' },
    },
    handle: async (parts, request: EventRequest, reply) => {
      const receipt = await takeEvents({ request, reply }, parts, name);
      return sendProtocolReply(reply, withHeaders(respond(receipt, request)));
    },
  });
  const infoRoutes = info.map(({ places: asked, reply: answer }) =>
    defineRoute(asked, ['ingest'], {
      ...{ ...shared, summary: `What senders of ${name} ask` },
      answer: { 200: { description: 'As the protocol has it.' } },
      handle: async (_parts, request: EventRequest, reply) =>
        sendProtocolReply(reply, withHeaders(answer(request))),
    }),
  );
  return [eventRoute, ...infoRoutes];
}

const PROTOCOL_NAMES = Object.keys(PROTOCOLS) as AcceptedProtocol[]; // of the table

export const ingestRoutes = defineGroup({
  tag: 'events',
  setup: addBodyParser,
  routes: [sendEvents, ...PROTOCOL_NAMES.flatMap(createProtocolRoutes)],
});

/**
 * Adds a parser of all media types: it reads and decompresses bodies within the limits, or rejects them unread. The format
 * is that of the route's body with the type (`bodies`); a body that has none is read and dropped.
 */
function addBodyParser(
  app: FastifyInstance,
  { config, admitEvents }: Pick<AppParts, 'config' | 'admitEvents'>,
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: FastifyRequest['raw']) => {
    const { 'content-encoding': encoding, 'content-length': length = Number.NaN } = request.headers;
    const { eventBodies } = request.routeOptions.config;
    const body = eventBodies?.find((one) => one.type.test(request.headers['content-type'] ?? ''));
    if (body === undefined && eventBodies !== undefined)
      throw new TailraceError('unsupported_media_type', rejectType(request));
    const isOwn = encoding !== undefined && encoding.trim().toLowerCase() === body?.ownEncoding;
    const check = body && (() => admitEvents(getCaller(request).keyId, Number(length) || 0));
    const head = { encoding: isOwn ? undefined : encoding, length: Number(length), check };
    const bytes = await readBody(payload, head, config);
    return body && { bytes, format: body.format };
  });
}

/**
 * Stores the events of a request; with an Idempotency-Key only once. A request that names no source leaves it to the
 * protocol, else to the body.
 */
async function takeEvents(
  { request, reply }: { readonly request: EventRequest; readonly reply: FastifyReply },
  { receive, registry, config }: AppParts,
  protocol?: AcceptedProtocol,
): Promise<Receipt> {
  const caller = getCaller(request);
  const source = findSource({ getSource: (text) => getAllowedSource(registry, caller, text) }, request);
  const projectHeader = protocol && PROTOCOLS[protocol].projectHeader;
  const project = findProject(request, caller, projectHeader) ?? config.defaultProject;
  // No parser runs without a body.
  if (request.body === undefined)
    throw new TailraceError('invalid_request', 'the body is missing; send events, and a Content-Type');
  const named = source === undefined ? registry.sources.filter((one) => isListed(caller.sources, one)) : [];
  const post = receive({
    ...request.body,
    ...{ source, protocol, index: request.params['index'] },
    decodedBytesMax: decodedBytesMaxOf(config),
    candidates: named,
    project,
    pinnedProject: caller.pins[OWNER],
    keyId: caller.keyId,
    idempotencyKey: headerOf(request, 'idempotency-key'),
    authorize: (target) => requireSource(caller, target),
  });
  const receipt = await post.catch((error: unknown) => {
    throw hideMissing(error, caller);
  });
  const { sources, stored, rejected, withoutProject, repaired, drop } = receipt;
  if (withoutProject > 0) reply.header(WITHOUT_PROJECT_HEADER, withoutProject);
  if (repaired > 0) reply.header('x-events-repaired', repaired);
  if (drop > 0) reply.header(DROPPED_HEADER, drop);
  request.detail = { source: sources.map(({ name }) => name).join(', '), stored, rejected };
  return receipt;
}

/**
 * Finds the project that the key or a header names. The choice of a person with several is only checked: otherwise events
 * for another project would be stored in the first.
 *
 * @param header of the protocol; `X-Project` counts first
 * @throws TailraceError `forbidden` if one names another than the key; if a key pins only what does not apply to events
 */
function findProject(
  request: Pick<EventRequest, 'headers' | 'query'>,
  { person, pins }: Caller,
  header = 'x-project',
): string | undefined {
  const { [OWNER]: pinned } = pins;
  if (pinned === undefined && Object.keys(pins).length > 0) {
    const message = `the key pins ${Object.keys(pins).join(', ')} but no project, so it cannot send events`;
    throw new TailraceError('forbidden', message, { rejectReason: 'pin' });
  }
  const choices = Object.hasOwn(person?.choices ?? {}, OWNER) ? [request.query[OWNER]].flat() : [];
  const [shared, own] = [headerOf(request, 'x-project'), headerOf(request, header)];
  const all = [...choices.map((one) => [OWNER, one] as const), ['X-Project', shared], [header, own]] as const;
  for (const [parameter, named] of all) {
    if (pinned === undefined || named === undefined || named === pinned) continue;
    const message = `is pinned to ${JSON.stringify(pinned)} by the key`;
    const errors = [{ parameter, message }];
    throw new TailraceError('forbidden', `${parameter} ${message}`, { errors, rejectReason: 'pin' });
  }
  return pinned ?? shared ?? own;
}
