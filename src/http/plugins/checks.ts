import type { IncomingMessage } from 'node:http';
import type { ErrorObject } from 'ajv';
import type { FastifyRequest, FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { invalidRequest, TailraceError } from '../../errors.ts';
import { expectedOf } from '../../lib/schema.ts';
import { compileSchema } from '../../lib/schema-check.ts';
import { describeUndeclared, findUndeclared, invalidParameters } from '../../query/parameters.ts';
import { hasBody, hasLength } from '../listener.ts';
import type { Route, RouteGroup } from '../route.ts';

type Head = Pick<IncomingMessage, 'headers'>;

const isJson = ({ headers }: Head) => /^application\/json\b/i.test(headers['content-type'] ?? '');

/** Many clients send `{}` with each DELETE and POST: it asks for nothing. */
const isEmptyObject = (body: unknown) =>
  typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length === 0;

/**
 * Returns a check that rejects what the route would ignore, and so answer another question: a body, and undeclared
 * parameters. Senders of events add parameters, and Elasticsearch's clients bodies. It has to run before a body is
 * parsed, and after one has been.
 */
export function createUnreadCheck(route: Route, group: RouteGroup): (request: FastifyRequest) => void {
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

function createBodyCheck(
  { method: own, body, writeError, handle }: Route,
  { routes }: RouteGroup,
  known: readonly string[],
): (request: FastifyRequest) => void {
  if (body !== undefined || writeError !== undefined) return () => {};
  const hasPost =
    own !== 'POST' &&
    handle !== undefined &&
    routes.some((other) => other.method === 'POST' && other.handle === handle);
  const inQuery = known.length > 0 || hasPost ? 'send parameters in the query string' : 'send none';
  const right = `${inQuery}${hasPost ? ', or the body by POST' : ''}`;

  return ({ method, body: sent, raw }) => {
    // JSON, and a body in chunks, is known once it has been parsed, which the framework does not do for GET and HEAD.
    const isAhead = own === 'GET' ? hasBody(raw) : hasLength(raw) && !isJson(raw);
    if (sent === undefined ? isAhead : !isEmptyObject(sent))
      throw new TailraceError('invalid_request', `${method} does not accept a body here; ${right}`);
  };
}

function rejectsUnknown({ id, tag, scopes }: Route): boolean {
  // The console asks who its person is with what the one before has chosen in the tab.
  if (id === undefined || tag === 'service' || id === 'get_me') return false;
  return !scopes.includes('ingest');
}

/** The part of a schema that is read here. */
interface ReadSchema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>;
}

/**
 * Checks bodies and query strings instead of Fastify's validator, which would silently drop unknown members, and with a
 * misspelt `pins` the limits of a key. Rejects with `invalid_request`, naming every wrong member.
 */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validate = compileSchema(schema);
  return (data) => {
    const value = httpPart === 'querystring' ? parseIntegers(schema, data) : data;
    if (validate(value)) return { value };
    const faults = new Map((validate.errors ?? []).map((error) => [pathOf(error), describe(error)]));
    return { error: invalidRequest([...faults].map(([parameter, message]) => ({ parameter, message }))) };
  };
};

/**
 * Converts the decimal integers of a query string that its schema declares as numbers; any other text stays, and is
 * rejected.
 */
function parseIntegers({ properties = {} }: ReadSchema, query: Record<string, unknown>) {
  const parsed = { ...query };
  for (const [name, { type }] of Object.entries(properties)) {
    const text = query[name];
    if (type === 'integer' && typeof text === 'string' && /^(?:0|[1-9]\d*)$/.test(text))
      parsed[name] = Number(text);
  }
  return parsed;
}

function pathOf({ instancePath, params }: ErrorObject): string {
  const { additionalProperty, missingProperty } = params as Record<string, string | undefined>; // of ajv, by keyword
  const path = [...instancePath.split('/').slice(1), additionalProperty ?? missingProperty ?? ''];
  return path.filter(Boolean).join('.') || 'body';
}

function describe({ keyword, parentSchema, message = 'is wrong' }: ErrorObject): string {
  const parent = (parentSchema ?? {}) as ReadSchema; // the schema of a route
  if (keyword === 'additionalProperties')
    return `is not known; known here: ${Object.keys(parent.properties ?? {}).join(', ')}`;
  if (keyword === 'required') return 'is missing';
  const expected = expectedOf(parent);
  if (expected === undefined) return message;
  return `must be ${expected === 'a map of fields' ? 'an object' : expected}`;
}
