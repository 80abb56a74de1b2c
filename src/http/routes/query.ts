import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Served } from '../../cache/cached.ts';
import { createRepresentations } from '../../cache/representation.ts';
import type { Endpoint } from '../../definitions/endpoint.ts';
import { TailraceError } from '../../errors.ts';
import { isListed } from '../../keys/grant.ts';
import type { Caller } from '../../keys/keyring.ts';
import { parsePinnedParameters } from '../../query/pins.ts';
import type { HttpContext } from '../context.ts';
import { createHeaderReader } from '../header-reader.ts';
import { createAuth, getCaller } from '../plugins/auth.ts';
import { createHangUpSignal } from '../plugins/hang-up.ts';
import { mergeParameters } from './body-parameters.ts';
import { createSendAnswer, engineMsOf, findMaxAge } from './send-answer.ts';

export const QUERY_PATH = '/api/endpoints/query/:endpoint';

// With and without: a range that names the charset matches only a type that has it.
const OFFERED = ['application/json', 'application/json; charset=utf-8'];

const PARAMS = Type.Object({ endpoint: Type.String() });
const QUERY = Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]));

interface QueryRequest {
  readonly Params: Type.Static<typeof PARAMS>;
  readonly Querystring: Type.Static<typeof QUERY>;
  /** Of POST: parameters too, for those that are too long for a URL. */
  readonly Body: unknown;
}

/** Runs a saved query by UUID or by name (spec 4). */
export function queryRoute(app: FastifyInstance, context: HttpContext): void {
  const { registry, cached, metrics, config } = context;
  const sendAnswer = createSendAnswer(createRepresentations());
  const requireAcceptable = createAcceptCheck();
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
      requireAcceptable(request);
      const raw = mergeParameters(request.query, request.body);
      const values = parsePinnedParameters(stored, raw, {
        pins: caller.pins,
        bytesMax: config.parameterBytesMax,
      });
      const who = {
        // Made when a query needs it: an answer from the cache is out before anyone could hang up.
        get signal() {
          return createHangUpSignal(reply);
        },
        lane: caller.keyId,
        maxAgeSeconds: findMaxAge(request),
      };
      const endpoint = await context.sandbox(stored, raw, who);
      const served = await cached.ask(endpoint, values, who);
      metrics.served(endpoint.name, served.outcome, served.answer.rows);
      request.detail = describe(served);
      return sendAnswer(request, reply, { endpoint, served });
    },
  });
}

/** @returns throws TailraceError `not_acceptable` where the caller takes no JSON */
function createAcceptCheck(): (request: FastifyRequest) => void {
  const takesJson = createHeaderReader('accept', (request) => request.accepts().type(OFFERED) !== false);
  return (request) => {
    if (takesJson(request)) return;
    throw new TailraceError('not_acceptable', 'answers are application/json; accept that or */*');
  };
}

function requireEndpoint({ endpoints }: Caller, endpoint: Endpoint): void {
  if (isListed(endpoints, endpoint)) return;
  const message = `the key may not read ${endpoint.name}; it may read ${endpoints?.join(', ')}`;
  throw new TailraceError('forbidden', message, { refusal: 'endpoint' });
}

function describe(served: Served): Record<string, unknown> {
  return {
    cache: served.outcome,
    rows: served.answer.rows,
    engine_ms: Math.round(engineMsOf(served) * 10) / 10,
  };
}
