import type { FastifyRequest } from 'fastify';
import { PROTOCOL_NAMES, type ProtocolName } from '../../definitions/accepts.ts';
import type { TailraceError } from '../../errors.ts';
import type { InfoRoute, Protocol, ProtocolReply, ProtocolRequest } from '../../ingest/protocols/protocol.ts';
import { PROTOCOLS } from '../../ingest/protocols/table.ts';
import { sendProtocolReply } from '../plugins/errors.ts';
import { defineRoute, type Route, type RouteGroup, textParameter } from '../route.ts';
import { addBodyParser, type EventRequest, type IngestParts, takeEvents } from './take-events.ts';

/** Accepts events by the protocols of src/ingest/protocols/table.ts. */
export const protocolRoutes: RouteGroup<IngestParts> = {
  setup: addBodyParser,
  routes: PROTOCOL_NAMES.flatMap((name) => [
    eventRoute(name),
    ...PROTOCOLS[name].info.map((route) => infoRoute(PROTOCOLS[name], route)),
  ]),
};

function eventRoute(name: ProtocolName): Route<IngestParts> {
  const protocol = PROTOCOLS[name];
  const { method, path, summary, id, bodies, respond } = protocol.events;
  return defineRoute({
    ...{ method, path, summary, bodies },
    ...ownForms(protocol),
    operation: { id, tag: 'events' },
    scopes: ['ingest'],
    parameters: [
      textParameter('header', 'X-Source', 'Source of all events; without it that which accepts each.'),
      textParameter('header', 'X-Project', 'Project of events that do not name one.'),
    ],
    body: {
      required: true,
      content: Object.fromEntries(bodies.map(({ shown }) => [shown, { schema: {} }])),
    },
    answer: { 200: { description: 'See docs/ingest.md.' } },
    errors: ['source_not_found', 'overloaded'],
    handle: async (parts: IngestParts, request: EventRequest, reply) => {
      const sent = describe(request);
      const { projectHeader } = protocol;
      const index = sent.params['index'];
      const receipt = await takeEvents({ request, reply }, parts, { protocol: name, index, projectHeader });
      return sendProtocolReply(reply, withHeaders(protocol, respond(receipt, sent)));
    },
  });
}

function infoRoute(
  protocol: Protocol,
  { method, path, summary, reply: answer }: InfoRoute,
): Route<IngestParts> {
  return defineRoute({
    ...{ method, path, summary },
    ...ownForms(protocol),
    scopes: ['ingest'],
    answer: { 200: { description: 'As the protocol has it.' } },
    handle: async (_parts: IngestParts, request, reply) =>
      sendProtocolReply(reply, withHeaders(protocol, answer(describe(request)))),
  });
}

/** How a protocol's senders send the key, and read failures. */
function ownForms(protocol: Protocol) {
  return {
    findKey: protocol.findKey,
    refusal: (failure: TailraceError) => withHeaders(protocol, protocol.reject(failure)),
  };
}

function describe({ params, headers }: Pick<FastifyRequest, 'params' | 'headers'>): ProtocolRequest {
  return { params: params as Record<string, string>, headers };
}

function withHeaders({ headers }: Protocol, reply: ProtocolReply): ProtocolReply {
  return { ...reply, headers: { ...headers, ...reply.headers } };
}
