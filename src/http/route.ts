import { parse } from 'node:querystring';
import type { FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import type { ErrorCode } from '../errors.ts';
import type { EventBody } from '../ingest/body-format.ts';
import type { Scope } from '../keys/grant.ts';
import type { Caller } from '../keys/keyring.ts';
import { wholeNumber } from '../lib/schema.ts';
import { plain, type Schema } from './openapi/schema.ts';
import type { AppParts } from './parts.ts';
import type { WriteError } from './plugins/errors.ts';

/**
 * A route, stated once. From it come the router with its checks and 405 (routes/index.ts), the operation in /openapi.json
 * (openapi/operation.ts) and the line in docs/api.md (scripts/docs/api.ts). test/http/routes.test.ts compares them.
 */
export interface Route<
  Path extends string = string,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
> extends RouteFields<Path, Query, Body> {
  /** GET serves HEAD, too. */
  readonly method: Method;
  /** The router's path, such as `/api/keys/:id`, or a list of paths that do the same. */
  readonly path: Path | readonly Path[];
  readonly scopes: RouteScopes;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * The caller must have one of them. `any`: every accepted caller, even one without a scope; `optional`: a key is checked
 * if one is sent.
 */
type RouteScopes = readonly Scope[] | 'any' | 'optional' | 'none';

/** What a route has besides its method, path and scopes. */
interface RouteFields<Path extends string, Query extends TObject, Body extends TSchema> {
  /** The key may also be in the query string, as `api_key`. */
  readonly keyInQuery?: boolean;
  /** Finds a key that is sent in another form than `readKey` reads. */
  findKey?(request: Pick<FastifyRequest, 'headers'> & { readonly query: RawQuery }): string | undefined;
  /** The form of its failures, if it is another than that of docs/errors.md. */
  readonly writeError?: WriteError;
  /** Bodies with events; see `addBodyParser`. */
  readonly bodies?: readonly EventBody[];
  /** One line. */
  readonly summary: string;
  /** In /openapi.json, which lists only routes that have one; for a list of paths each path is appended to `id`. */
  readonly operation?: {
    readonly id: string;
    readonly tag: 'endpoints' | 'events' | 'keys' | 'console' | 'service';
    readonly description?: string;
  };
  /** Checked before the handler runs, with defaults filled in. */
  readonly query?: Query;
  /** OpenAPI parameters besides the path and `query`, which the handler checks. */
  readonly parameters?: readonly Schema[];
  readonly body?: RequestBody<Body>;
  /** OpenAPI responses by HTTP status. The first is the status of the response unless the handler sets one. */
  readonly answer?: Readonly<Record<number, Schema>>;
  /** Failures of the handler. Those of key, URL, query string and body follow from the other members. */
  readonly errors?: readonly ErrorCode[];
  /** The route's own rules for pages of other origins; adds OPTIONS. */
  readonly cors?: FastifyCorsOptions;
  /** Rejects a caller that has the scope, before query and body are checked. @throws TailraceError `forbidden` */
  checkCaller?(caller: Caller): void;
  /** Without it `setup` of the group serves the route. @returns the response body, or the reply */
  handle?(
    parts: AppParts,
    request: RouteRequest<Path, Query, Body>,
    reply: FastifyReply,
  ): Promise<unknown> | FastifyReply;
}

export interface RequestBody<Body extends TSchema = TSchema> {
  /** Checked before the handler runs; without it the handler checks the body. */
  readonly schema?: Body;
  /** A missing body that is not required is checked as `{}`. */
  readonly required: boolean;
  /** Content by media type, as in OpenAPI. */
  readonly content: Schema;
}

export type RouteRequest<Path extends string, Query extends TSchema, Body extends TSchema> = FastifyRequest<{
  Params: Readonly<Record<ParameterOf<Path>, string>>;
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

/** Node's parser instead of the framework's, which decodes each escape separately. @returns without a prototype */
export function parseQueryString(text: string) {
  return parse(text, '&', '=', { maxKeys: PARAMETERS_MAX });
}

type Place = `${Method} ${string}`;

/**
 * Infers the type of the handler's request from path and schemas.
 *
 * @param place method and path, such as `GET /api/keys/:id`; the long form has a list of paths
 */
export function defineRoute<
  Path extends Place,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
>(place: Path, scopes: RouteScopes, fields: RouteFields<Path, Query, Body>): Route;
export function defineRoute<
  Path extends string,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
>(route: Route<Path, Query, Body>): Route;
export function defineRoute(route: Place | object, scopes?: RouteScopes, fields?: object): Route {
  // The router matches the path and checks the schemas before it calls the handler.
  if (typeof route === 'object') return route as Route;
  const [method, path] = route.split(' ');
  return { ...fields, method, path, scopes } as Route;
}

/** Returns a JSON body that is checked against `schema`. */
export function jsonBody<Body extends TSchema>(
  schema: Body,
  { example, required = true }: { readonly example: unknown; readonly required?: boolean },
): RequestBody<Body> {
  return { schema, required, content: { 'application/json': { schema: plain(schema), example } } };
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

export function textParameter(place: 'query' | 'header', name: string, description: string): Schema {
  return { name, in: place, description, schema: { type: 'string' } };
}

export function pathsOf({ path }: Route): readonly string[] {
  return typeof path === 'string' ? [path] : path;
}

export function methodsOf({ method, cors }: Route): readonly string[] {
  return [method, ...(method === 'GET' ? ['HEAD'] : []), ...(cors === undefined ? [] : ['OPTIONS'])];
}
