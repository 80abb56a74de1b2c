import { parse } from 'node:querystring';
import type { FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import { laneOf } from '../engine/lanes.ts';
import type { ErrorCode } from '../errors.ts';
import type { EventBody } from '../ingest/body-format.ts';
import type { Scope } from '../keys/grant.ts';
import type { Caller } from '../keys/keyring.ts';
import { wholeNumber } from '../lib/schema.ts';
import { list, object, plain, type Schema } from './openapi/schema.ts';
import type { AppParts } from './parts.ts';
import type { WriteError } from './plugins/errors.ts';

/**
 * A route, stated once. From it come the router with its checks and 405 (routes/index.ts), the operation in /openapi.json
 * (openapi/operation.ts) and the line in docs/api.md (scripts/docs/api.ts). test/http/routes.test.ts compares them.
 */
export interface Route extends RouteFields<string, TObject, TSchema> {
  /** GET serves HEAD, too. */
  readonly method: Method;
  /** The router's paths, such as `/api/keys/:id`; all do the same. */
  readonly paths: readonly string[];
  readonly scopes: RouteScopes;
  /** The operation's id in /openapi.json, which lists only routes with one; each of several paths is appended to it. */
  readonly id?: string;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * The caller must have one of them. `any`: every accepted caller, even one without a scope; `optional`: a key is checked
 * if one is sent.
 */
type RouteScopes = readonly Scope[] | 'any' | 'optional' | 'none';

/** What the routes of a group may share. */
interface SharedFields {
  /** The operation's group in /openapi.json. */
  readonly tag?: 'endpoints' | 'events' | 'keys' | 'console' | 'service';
  /** Rejects a caller that has the scope, before query and body are checked. @throws TailraceError `forbidden` */
  checkCaller?(caller: Caller): void;
}

/** What a route has besides its method, path and scopes. */
interface RouteFields<Path extends string, Query extends TObject, Body extends TSchema> extends SharedFields {
  /** Finds a key that is sent in another form than `readKey` reads. */
  findKey?(request: Pick<FastifyRequest, 'headers'> & { readonly query: RawQuery }): string | undefined;
  /** The form of its failures, if it is another than that of docs/errors.md. */
  readonly writeError?: WriteError;
  /** Bodies with events; see `addBodyParser`. */
  readonly bodies?: readonly EventBody[];
  /** One line. */
  readonly summary: string;
  /** The operation's description in /openapi.json; the scopes by default. */
  readonly description?: string;
  /** Checked before the handler runs, with defaults filled in. */
  readonly query?: Query;
  /** OpenAPI parameters besides the path and `query`, which the handler checks. */
  readonly parameters?: readonly Schema[];
  readonly body?: RequestBody<Body>;
  /** OpenAPI responses by HTTP status. The first is the status of the response unless the handler sets one. */
  readonly answer?: Readonly<Record<number, Schema>>;
  /** Failures of the handler. Those of key, path, query string and body follow from the other members. */
  readonly errors?: readonly ErrorCode[];
  /** The route's own rules for pages of other origins; adds OPTIONS. */
  readonly cors?: FastifyCorsOptions;
  /** Responds with what it returns: a function of management/ or workbench/, which knows nothing of HTTP. */
  call?(parts: AppParts, caller: Caller, input: Input<Path, Query, Body>, run: Run): unknown;
  /** Responds by itself, or with what it returns. Without it and `call` the group's `setup` serves the route. */
  handle?(parts: AppParts, request: RouteRequest<Path, Query, Body>, reply: FastifyReply): unknown;
}

/** The parameters of the path, those of `query`, and the members of the checked body. */
type Input<Path extends string, Query extends TObject, Body extends TSchema> = PathParameters<Path> &
  (TObject extends Query ? unknown : Static<Query>) &
  Static<Body>;

type PathParameters<Path extends string> = Readonly<Record<ParameterOf<Path>, string>>;

/** The options by which the query of a request runs. */
type Run = ReturnType<typeof describeRun>;

export interface RequestBody<Body extends TSchema = TSchema> {
  /** Checked before the handler runs; without it the handler checks the body. */
  readonly schema?: Body;
  /** A missing body that is not required is checked as `{}`. */
  readonly required: boolean;
  /** Content by media type, as in OpenAPI. */
  readonly content: Schema;
}

export type RouteRequest<Path extends string, Query extends TSchema, Body extends TSchema> = FastifyRequest<{
  Params: PathParameters<Path>;
  Querystring: TObject extends Query ? RawQuery : Static<Query>;
  Body: Static<Body>;
}>;

/** A query string that is not checked: a list for a name that came more than once. */
export type RawQuery = Readonly<Record<string, string | string[]>>;

type ParameterOf<Path extends string> = Path extends `${infer Head}/${infer Tail}`
  ? ParameterOf<Head> | ParameterOf<Tail>
  : Path extends `:${infer Name}`
    ? Name
    : never;

/** Routes with the same parsers and plugins, in their own Fastify scope. */
export interface RouteGroup {
  readonly routes: readonly Route[];
  /** Largest request body; that of TAILRACE_BODY_BYTES_MAX unless set. */
  readonly bodyBytesMax?: number;
  /** Adds body parsers and plugins before the routes. */
  setup?(app: FastifyInstance, parts: AppParts): void | Promise<void>;
}

/**
 * Longest URL, else 414, and the largest body with parameters: the values of an endpoint, each as long as it may be,
 * and a SELECT. Proxies allow less.
 */
export const URL_BYTES_MAX = 262_144;

/** Parameters of one request in its URL, and as many in its body: many times as many as an endpoint may declare. */
export const PARAMETERS_MAX = 1_000;

/** Describes the fault of a URL or a body with more parameters. */
export function describeTooMany(place: 'URL' | 'body'): string {
  return `the ${place} has more than ${PARAMETERS_MAX} parameters; send those that the endpoint declares`;
}

/** Node's parser instead of the framework's, which decodes each escape separately. @returns without a prototype */
export function parseQueryString(text: string) {
  return parse(text, '&', '=', { maxKeys: PARAMETERS_MAX });
}

type Place = `${Method} ${string}`;

/**
 * Infers the types of input and request from path and schemas.
 * @param place method and path, such as `GET /api/keys/:id`; several have one method
 */
export function defineRoute<
  Path extends Place,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
>(place: Path | readonly Path[], scopes: RouteScopes, fields: RouteFields<Path, Query, Body>): Route {
  const places = [place].flat().map((one) => one.split(' '));
  const paths = places.map(([, path]) => path);
  // The router matches the path and checks the schemas before it calls the handler.
  return { ...fields, method: places[0]?.[0], paths, scopes } as Route;
}

/** Defines a route that /openapi.json lists. @param id the id of its operation */
export function operation<
  Path extends Place,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
>(id: string, ...route: Parameters<typeof defineRoute<Path, Query, Body>>): Route {
  return { ...defineRoute(...route), id };
}

/** Creates a group whose routes share these fields, unless a route has its own. */
export function defineGroup({ tag, checkCaller, ...group }: RouteGroup & SharedFields): RouteGroup {
  const shared = { ...(tag && { tag }), ...(checkCaller && { checkCaller }) };
  return { ...group, routes: group.routes.map((route) => ({ ...shared, ...route })) };
}

/** Returns the caller of a request, on a path that needs a key. */
export function getCaller({ caller }: Pick<FastifyRequest, 'caller'>): Caller {
  if (caller !== undefined) return caller;
  throw new Error('this path needs no key');
}

export function describeRun(request: FastifyRequest, reply: FastifyReply) {
  const caller = getCaller(request);
  return {
    // Created when a query needs it: an answer from the cache is sent before anyone could hang up.
    get signal() {
      return createHangUpSignal(reply);
    },
    lane: laneOf(caller.keyId, caller.token?.id),
    requestId: request.id,
  };
}

/**
 * Aborts if the caller hangs up before the response is sent. Fastify's `request.signal` aborts as soon as a body has
 * been read to its end, so it cannot be used for a POST.
 */
function createHangUpSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort();
  });
  if (raw.destroyed) controller.abort();
  return controller.signal;
}

/** Failures of a query that runs. */
export const QUERY_ERRORS = ['query_failed', 'overloaded', 'query_timeout'] as const;

/** Returns a JSON body that is checked against `schema`. */
export function jsonBody<Body extends TSchema>(
  schema: Body,
  { example, required = true }: { readonly example: unknown; readonly required?: boolean },
): RequestBody<Body> {
  return { schema, required, content: { 'application/json': { schema: plain(schema), example } } };
}

/** Returns a JSON response with a list. */
export function rows(description: string, schema: unknown): Schema {
  return json(description, object({ result: list(schema) }));
}

/** Returns a JSON response. */
export function json(description: string, schema: unknown): Schema {
  return { description, content: { 'application/json': { schema: plain(schema) } } };
}

/** Returns the parameters of a page of a list, newest first. @param id form of an id */
export function pageQuery(id: {
  readonly expected: string;
  readonly maxLength?: number;
  readonly pattern?: string;
}) {
  return {
    limit: wholeNumber(1_000, { default: 100, description: 'Number of entries.' }),
    before: Type.Optional(Type.String({ ...id, description: 'Id of the last one seen.' })),
  };
}
