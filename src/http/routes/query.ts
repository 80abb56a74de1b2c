import type { FastifyReply } from 'fastify';
import type { TObject, TSchema } from 'typebox';
import type { CachedQueries } from '../../cache/cached.ts';
import type { Config } from '../../config/config.ts';
import type { Endpoint } from '../../definitions/endpoint.ts';
import type { Registry } from '../../definitions/registry.ts';
import { laneOf } from '../../engine/lanes.ts';
import { TailraceError } from '../../errors.ts';
import { isListed } from '../../keys/grant.ts';
import type { Caller } from '../../keys/keyring.ts';
import { parsePinnedParameters } from '../../query/pins.ts';
import type { Sandbox } from '../../query/sandbox/sandbox.ts';
import { readCacheDirectives } from '../cache-directives.ts';
import type { KnownQuestions } from '../known-questions.ts';
import type { Metrics } from '../metrics.ts';
import { getCaller } from '../plugins/auth.ts';
import { createHangUpSignal } from '../plugins/hang-up.ts';
import { defineRoute, type RouteGroup, type RouteRequest } from '../route.ts';
import { describeServed, type Sender } from '../send-answer.ts';
import { mergeParameters } from './body-parameters.ts';

export const QUERY_PATH = '/api/endpoints/query/:endpoint';

export interface QueryParts {
  readonly config: Pick<Config, 'urlBytesMax' | 'parameterBytesMax'>;
  readonly registry: Registry;
  readonly cached: CachedQueries;
  readonly sandbox: Sandbox;
  readonly metrics: Metrics;
  /** Shared with the listener in front of Fastify: src/http/kept-answers.ts. */
  readonly questions: KnownQuestions;
  readonly sender: Sender;
}

/** What GET and POST have in common. */
const shared = {
  path: QUERY_PATH,
  scopes: ['query'],
  errors: ['endpoint_not_found', 'not_acceptable', 'query_failed', 'overloaded', 'query_timeout'],
  handle: runQuery,
} as const;

const QUERY_GET = defineRoute({
  ...shared,
  method: 'GET',
  summary: 'Rows of an endpoint, by its UUID or name',
});
/** For parameters that are too long for a URL. */
export const QUERY_POST = defineRoute({
  ...shared,
  method: 'POST',
  summary: 'The same, with parameters in the body',
  body: { required: false, content: {} }, // described by endpoint: openapi/endpoint.ts
});

/** Saved queries by UUID or name (spec 4). */
export const queryRoutes: RouteGroup<QueryParts> = {
  routes: [QUERY_GET, QUERY_POST],
  bodyBytesMax: ({ config }) => config.urlBytesMax, // a body holds what a URL could hold
  setup: (app) => app.removeContentTypeParser('text/plain'),
};

async function runQuery(
  { registry, cached, metrics, config, questions, sender, sandbox }: QueryParts,
  request: RouteRequest<typeof QUERY_PATH, TObject, TSchema>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const stored = registry.getEndpoint(request.params.endpoint);
  request.endpointName = stored.name;
  const caller = getCaller(request);
  requireEndpoint(caller, stored);
  sender.requireAcceptable(request);
  const raw = mergeParameters(request.query, request.body);
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
  const endpoint = await sandbox(stored, raw, who);
  const served = await cached.ask(endpoint, values, who);
  metrics.served(endpoint.name, served.outcome, served.answer.rows);
  request.detail = describeServed(served);
  return sender.send(request, reply, { endpoint, served });
}

function requireEndpoint({ endpoints }: Caller, endpoint: Endpoint): void {
  if (isListed(endpoints, endpoint)) return;
  const message = `the key may not read ${endpoint.name}; it may read ${endpoints?.join(', ')}`;
  throw new TailraceError('forbidden', message, { refusal: 'endpoint' });
}
