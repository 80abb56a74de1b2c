import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { TailraceError } from '../../errors.ts';
import { findUndeclared, invalidParameters } from '../../query/parameters.ts';
import { describeUndeclared } from '../../query/undeclared.ts';
import type { Route, RouteGroup } from '../route.ts';

type Head = Pick<IncomingMessage, 'headers'>;

const hasLength = ({ headers }: Head) => Number(headers['content-length'] ?? 0) > 0;

const isJson = ({ headers }: Head) => /^application\/json\b/i.test(headers['content-type'] ?? '');

/** Many clients send `{}` with each DELETE and POST: it asks for nothing. */
const isEmptyObject = (body: unknown) =>
  typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length === 0;

/** Whether a request sends a body, or has one in chunks, which may be empty. */
export function hasBody(head: Head): boolean {
  return head.headers['transfer-encoding'] !== undefined || hasLength(head);
}

/**
 * Returns a check that rejects what the route would ignore, and so answer another question: a body, and undeclared parameters. Senders of
 * events add parameters, and Elasticsearch's clients bodies. It has to run before a body is parsed, and after one has been.
 */
export function createUnreadCheck<Parts>(
  route: Route<Parts>,
  group: RouteGroup<Parts>,
): (request: FastifyRequest) => void {
  const parameters = route.parameters?.filter((one) => one['in'] === 'query') ?? [];
  const known = [
    ...Object.keys(route.query?.properties ?? {}),
    ...parameters.map(({ name }) => String(name)),
  ];
  const checkBody = createBodyCheck(route, group, known);
  const isOwn = rejectsUnknown(route);

  return (request) => {
    checkBody(request);
    if (!isOwn) return;
    const { query, caller } = request;
    // The console adds what a person with several projects has chosen to every request.
    const chosen = caller?.isAmbient === true ? Object.keys(caller.pins) : [];
    const sent = query as object as Record<string, unknown>; // an object of the query string
    const unknown = findUndeclared([...known, ...chosen], sent);
    if (unknown.length > 0) throw invalidParameters(describeUndeclared(unknown, known));
  };
}

function createBodyCheck<Parts>(
  { method: own, body, refusal, handle }: Route<Parts>,
  { routes }: RouteGroup<Parts>,
  known: readonly string[],
): (request: FastifyRequest) => void {
  if (body !== undefined || refusal !== undefined) return () => {};
  const hasPost =
    own !== 'POST' && routes.some((other) => other.method === 'POST' && other.handle === handle);
  const inQuery = known.length > 0 || hasPost ? 'send parameters in the query string' : 'send none';
  const right = `${inQuery}${hasPost ? ', or the body by POST' : ''}`;

  return ({ method, body: sent, raw }) => {
    // JSON, and a body in chunks, is known once it has been parsed, which the framework does not do for GET and HEAD.
    const isAhead = own === 'GET' ? hasBody(raw) : hasLength(raw) && !isJson(raw);
    if (sent === undefined ? isAhead : !isEmptyObject(sent))
      throw new TailraceError('invalid_request', `${method} does not accept a body here; ${right}`);
  };
}

function rejectsUnknown<Parts>({ operation, scopes }: Route<Parts>): boolean {
  // The console asks who its person is with what the one before has chosen in the tab.
  if (operation === undefined || operation.tag === 'service' || operation.id === 'get_me') return false;
  return !scopes.includes('ingest');
}
