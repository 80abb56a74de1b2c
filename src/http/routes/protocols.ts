import type { FastifyRequest } from 'fastify';
import type { TailraceError } from '../../errors.ts';
import type {
  EventRoute,
  InfoRoute,
  Protocol,
  ProtocolReply,
  ProtocolRequest,
  ProtocolRoute,
} from '../../ingest/protocols/protocol.ts';
import { PROTOCOLS } from '../../ingest/protocols/table.ts';
import { sendProtocolReply } from '../plugins/errors.ts';
import { defineRoute, type Route, type RouteGroup, textParameter } from '../route.ts';
import {
  addRawParser,
  type EventRequest,
  findSourceInHeaders,
  type IngestParts,
  takeEvents,
} from './take-events.ts';

const NAMES = Object.keys(PROTOCOLS) as (keyof typeof PROTOCOLS)[];

/** Accepts events by the protocols of src/ingest/protocols/table.ts. */
export const protocolRoutes: RouteGroup<IngestParts> = {
  setup(app, parts) {
    app.removeAllContentTypeParsers();
    addRawParser(app, parts);
  },
  routes: NAMES.flatMap((name) => {
    const protocol = PROTOCOLS[name];
    return [
      ...protocol.events.map((route) => eventRoute(name, protocol, route)),
      ...protocol.info.map((route) => infoRoute(protocol, route)),
    ];
  }),
};

function eventRoute(name: keyof typeof PROTOCOLS, protocol: Protocol, route: EventRoute): Route<IngestParts> {
  return defineRoute({
    ...shared(protocol, route),
    scopes: ['ingest'],
    parameters: [
      textParameter('header', 'X-Source', 'Source of all events; without it that which accepts each.'),
      textParameter('header', 'X-Project', 'Project of events that do not name one.'),
    ],
    body: {
      required: true,
      content: Object.fromEntries(route.bodies.map(({ shown }) => [shown, { schema: {} }])),
    },
    bodies: route.bodies,
    answer: { 200: { description: 'See docs/senders.md.' } },
    errors: ['source_not_found', 'overloaded'],
    handle: async (parts: IngestParts, request: EventRequest, reply) => {
      const sent = describe(request);
      if (request.body !== undefined) route.verify?.(sent, request.body.bytes, parts.config);
      const receipt = await takeEvents(request, parts, {
        source: findSourceInHeaders(request, parts),
        protocol: name,
        context: route.context?.(sent),
        target: Object.values(sent.params).join('/'),
        projectHeader: protocol.projectHeader,
        repeatHeader: route.repeatHeader,
      });
      return sendProtocolReply(reply, withHeaders(protocol, route.respond(receipt, sent, parts.config)));
    },
  });
}

function infoRoute(protocol: Protocol, route: InfoRoute): Route<IngestParts> {
  return defineRoute({
    ...shared(protocol, route),
    scopes: route.isOpen ? 'none' : ['ingest'],
    answer: { 200: { description: 'As the protocol has it.' } },
    handle: async (parts: IngestParts, request, reply) =>
      sendProtocolReply(reply, withHeaders(protocol, route.reply(describe(request), parts.config))),
  });
}

function shared(protocol: Protocol, { method, path, summary, id }: ProtocolRoute) {
  return {
    ...{ method, path, summary },
    ...(id !== undefined && { operation: { id, tag: 'events' as const } }),
    findKey: protocol.findKey,
    refusal: (failure: TailraceError) => withHeaders(protocol, protocol.refuse(failure)),
  };
}

function describe({
  method,
  params,
  query,
  headers,
}: Pick<FastifyRequest, 'method' | 'params' | 'query' | 'headers'>): ProtocolRequest {
  return {
    method,
    params: params as Record<string, string>,
    query: query as object as ProtocolRequest['query'],
    headers,
  };
}

function withHeaders({ headers }: Protocol, reply: ProtocolReply): ProtocolReply {
  return { ...reply, headers: { ...headers, ...reply.headers } };
}
