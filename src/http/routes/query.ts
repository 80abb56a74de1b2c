import type { FastifyInstance, FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { laneOf } from '../../engine/lanes.ts';
import { type Describe, describeServed } from '../../serve/describe.ts';
import type { Resolve } from '../../serve/resolve.ts';
import type { HttpContext } from '../context.ts';
import { addHead, createAuth, getCaller } from '../plugins/auth.ts';
import { mergeParameters } from './body-parameters.ts';

export const QUERY_PATH = '/api/endpoints/query/:endpoint';

const PARAMS = Type.Object({ endpoint: Type.String() });
const QUERY = Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]));

interface QueryRequest {
  readonly Params: Type.Static<typeof PARAMS>;
  readonly Querystring: Type.Static<typeof QUERY>;
  /** Of POST: parameters too, for those that are too long for a URL. */
  readonly Body: unknown;
}

/** What this route shares with the listener in front of the framework. */
export interface QueryContext extends HttpContext {
  readonly resolve: Resolve['resolve'];
  readonly describe: Describe;
}

/** Runs a saved query by UUID or by name (spec 4). */
export function queryRoute(app: FastifyInstance, context: QueryContext): void {
  const { registry, cached, metrics, config, resolve, describe } = context;
  app.removeContentTypeParser('text/plain');
  app.route<QueryRequest>({
    method: ['GET', 'POST'],
    url: QUERY_PATH,
    bodyLimit: config.urlBytesMax, // what is sent in a body is what could be sent in a URL
    schema: { params: PARAMS },
    onRequest: createAuth(context.keyring, 'query'),
    handler: async (request, reply) => {
      const { method, headers } = request;
      const endpoint = registry.getEndpoint(request.params.endpoint);
      request.endpointName = endpoint.name;
      const caller = getCaller(request);
      const how = {
        // Created when a query needs it: an answer from the cache is sent before anyone could hang up.
        get signal() {
          return createHangUpSignal(reply);
        },
        lane: laneOf(caller.keyId, caller.token?.id),
        requestId: request.id,
      };
      const { question, encoding, directives } = await resolve({
        ...{ caller, endpoint, headers, accepts: request.accepts(), sandboxed: how },
        url: method === 'POST' ? undefined : request.url,
        parameters: mergeParameters(request.query, request.body),
      });
      const served =
        cached.find(question, directives) ?? (await cached.compute(question, { ...how, ...directives }));
      metrics.served(endpoint.name, served.outcome, served.answer.rows);
      request.detail = describeServed(served);
      const vary = reply.getHeader('vary')?.toString();
      const described = await describe({ method, headers, vary, endpoint, encoding }, served);
      addHead(reply.code(described.status), described.head);
      return reply.send(described.representation?.body);
    },
  });
}

/**
 * Aborts if the caller hangs up before the response is sent. Fastify's `request.signal` aborts as soon as a body has been read
 * to its end, so it cannot be used for a POST.
 */
function createHangUpSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  if (reply.raw.destroyed) controller.abort();
  return controller.signal;
}
