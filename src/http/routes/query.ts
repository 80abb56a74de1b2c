import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Endpoint } from '../../definitions/endpoint.ts';
import { laneOf } from '../../engine/lanes.ts';
import { TailraceError } from '../../errors.ts';
import { isListed } from '../../keys/grant.ts';
import type { Caller } from '../../keys/keyring.ts';
import { parsePinnedParameters } from '../../query/pins.ts';
import { readCacheDirectives } from '../cache-directives.ts';
import type { HttpContext } from '../context.ts';
import type { KnownQuestions } from '../known-questions.ts';
import { createAuth, getCaller } from '../plugins/auth.ts';
import { createHangUpSignal } from '../plugins/hang-up.ts';
import { describeServed, type Sender } from '../send-answer.ts';
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

/** What this route has in common with answers that are sent ahead of it: src/http/kept-answers.ts. */
export interface QueryContext extends HttpContext {
  readonly questions: KnownQuestions;
  readonly sender: Sender;
}

/** Runs a saved query by UUID or by name (spec 4). */
export function queryRoute(app: FastifyInstance, context: QueryContext): void {
  const { registry, cached, metrics, config, questions, sender } = context;
  app.removeContentTypeParser('text/plain');
  app.route<QueryRequest>({
    method: ['GET', 'POST'],
    url: QUERY_PATH,
    bodyLimit: config.urlBytesMax, // what is sent in a body is what could be sent in a URL
    schema: { params: PARAMS },
    onRequest: createAuth(context.keyring, 'query'),
    handler: async (request, reply) => {
      const stored = registry.getEndpoint(request.params.endpoint);
      request.endpointName = stored.name;
      const caller = getCaller(request);
      requireEndpoint(caller, stored);
      sender.requireAcceptable(request);
      const raw = mergeParameters(request.query, request.body, stored.parameters);
      const values = parsePinnedParameters(stored, raw, {
        pins: caller.pins,
        bytesMax: config.parameterBytesMax,
      });
      // Before anything is waited for: after a reload meanwhile it would be taken for one of the new definitions.
      const directives = readCacheDirectives(request.headers);
      if (request.method === 'GET' && directives.noStore !== true)
        questions.remember(request.url, caller, { endpoint: stored, values });
      const who = {
        // Made when a query needs it: an answer from the cache is out before anyone could hang up.
        get signal() {
          return createHangUpSignal(reply);
        },
        lane: laneOf(caller.keyId, caller.token?.id),
        requestId: request.id,
        ...directives,
      };
      const endpoint = await context.sandbox(stored, raw, who);
      const served = await cached.ask(endpoint, values, who);
      metrics.served(endpoint.name, served.outcome, served.answer.rows);
      request.detail = describeServed(served);
      return sender.send(request, reply, { endpoint, served });
    },
  });
}

function requireEndpoint({ endpoints }: Caller, endpoint: Endpoint): void {
  if (isListed(endpoints, endpoint)) return;
  const message = `the key may not read ${endpoint.name}; it may read ${endpoints?.join(', ')}`;
  throw new TailraceError('forbidden', message, { refusal: 'endpoint' });
}
