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
  { body, refusal, operation, scopes, handle, ...route }: Route<Parts>,
  group: RouteGroup<Parts>,
): (request: FastifyRequest) => void {
  const readsBody = body !== undefined || refusal !== undefined;
  const hasPost = group.routes.some((other) => other.method === 'POST' && other.handle === handle);
  const isOwn = operation !== undefined && operation.tag !== 'service' && !scopes.includes('ingest');
  const parameters = route.parameters?.filter((one) => one['in'] === 'query') ?? [];
  const known = [
    ...Object.keys(route.query?.properties ?? {}),
    ...parameters.map(({ name }) => String(name)),
  ];

  return ({ method, body: sent, raw, query, caller }) => {
    // JSON, and a body in chunks, is known once it has been parsed, which the framework does not do for GET and HEAD.
    const isAhead = route.method === 'GET' ? hasBody(raw) : hasLength(raw) && !isJson(raw);
    if (!readsBody && (sent === undefined ? isAhead : !isEmptyObject(sent))) {
      const right = `send parameters in the query string${hasPost ? ', or the body by POST' : ''}`;
      throw new TailraceError('invalid_request', `${method} does not accept a body here; ${right}`);
    }
    // The console adds what a person with several projects has chosen, which another person may not have, to every request.
    if (!isOwn || caller?.isAmbient === true) return;
    const unknown = findUndeclared(known, query as object as Record<string, unknown>); // an object of parseQueryString
    if (unknown.length > 0) throw invalidParameters(describeUndeclared(unknown, known));
  };
}
