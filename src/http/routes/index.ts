import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { TailraceError } from '../../errors.ts';
import type { AppParts } from '../parts.ts';
import { createAuth } from '../plugins/auth.ts';
import { compileValidator, createUnreadCheck } from '../plugins/checks.ts';
import { describeRun, getCaller, type RawQuery, type Route, type RouteGroup } from '../route.ts';
import { aboutRoutes } from './about.ts';
import { alertRoutes } from './alerts.ts';
import { authRoutes, sessionRoutes } from './auth.ts';
import { consoleRoutes } from './console.ts';
import { definitionRoutes } from './definitions.ts';
import { ingestRoutes } from './ingest.ts';
import { keyRoutes, tokenRoutes } from './keys.ts';
import { deletionRoutes, localRoutes } from './local.ts';
import { mcpRoutes } from './mcp.ts';
import { overviewRoutes } from './overview.ts';
import { queryRoutes } from './query.ts';
import { searchRoutes } from './search.ts';
import { fileRoutes, workbenchRoutes } from './workbench.ts';

/** Every group of routes, in the order of docs/api.md and /openapi.json. */
const GROUPS: readonly RouteGroup[] = [
  queryRoutes,
  searchRoutes,
  mcpRoutes,
  ingestRoutes,
  deletionRoutes,
  keyRoutes,
  tokenRoutes,
  sessionRoutes,
  authRoutes,
  alertRoutes,
  definitionRoutes,
  overviewRoutes,
  workbenchRoutes,
  fileRoutes,
  localRoutes,
  aboutRoutes,
  consoleRoutes,
];

export const ROUTES: readonly Route[] = GROUPS.flatMap(({ routes }) => routes);

/** Path → every method that is served there, in the order of `Allow`. */
export const ALLOWED_METHODS: ReadonlyMap<string, readonly string[]> = findAllowed();

function findAllowed(): Map<string, readonly string[]> {
  const allowed = new Map<string, readonly string[]>();
  for (const { method, cors, paths } of ROUTES) {
    const methods = [
      method,
      ...(method === 'GET' ? ['HEAD'] : []),
      ...(cors === undefined ? [] : ['OPTIONS']),
    ];
    for (const path of paths) allowed.set(path, [...(allowed.get(path) ?? []), ...methods]);
  }
  return allowed;
}

/** Adds every route to the router, and 405 for the other methods of their paths. */
export async function registerRoutes(app: FastifyInstance, parts: AppParts): Promise<void> {
  for (const group of GROUPS) await registerGroup(app, group, parts);
  registerMethodCheck(app);
}

/** Adds the routes of a group to the router, each with its checks of the key, the query string and the body. */
export async function registerGroup(app: FastifyInstance, group: RouteGroup, parts: AppParts): Promise<void> {
  await app.register(async (scope) => {
    scope.setValidatorCompiler(compileValidator);
    await group.setup?.(scope, parts);
    for (const route of group.routes) addRoute(scope, route, { group, parts });
  });
}

type Handled = { Params: Readonly<Record<never, string>>; Querystring: RawQuery; Body: unknown };

function addRoute(
  app: FastifyInstance,
  route: Route,
  { group, parts }: { readonly group: RouteGroup; readonly parts: AppParts },
): void {
  const { method, query, body, cors, bodies: eventBodies, writeError } = route;
  const checkUnread = createUnreadCheck(route, group);
  const bodyTypes = Object.keys(body?.content ?? {});
  const config = { ...(cors && { cors }), bodyTypes, ...(eventBodies && { eventBodies }), writeError };
  const handler = createHandler(route, parts);
  for (const url of route.paths) {
    if (cors !== undefined) app.options(url, { config }, () => {}); // cors.ts responds before
    if (handler === undefined) continue;
    app.route<Handled>({
      ...{ method, url, config, handler },
      onRequest: [...createAuth(route), async (request) => checkUnread(request)],
      ...(group.bodyBytesMax !== undefined && { bodyLimit: group.bodyBytesMax }),
      schema: { ...(query && { querystring: query }), ...(body?.schema && { body: body.schema }) },
      preValidation(request, _reply, done) {
        route.checkCaller?.(getCaller(request));
        if (request.body !== undefined) checkUnread(request);
        if (body?.schema !== undefined && !body.required) request.body ??= {};
        done();
      },
    });
  }
}

/** Returns what responds to a request; `undefined` if `setup` of the group does. */
function createHandler({ answer = {}, query, body, handle, call }: Route, parts: AppParts) {
  const [status = 200] = Object.keys(answer).map(Number);
  if (call === undefined)
    return (
      handle &&
      ((request: FastifyRequest<Handled>, reply: FastifyReply) => handle(parts, request, reply.code(status)))
    );
  return async (request: FastifyRequest<Handled>, reply: FastifyReply) => {
    // Only what was checked; the path last, so that no body names another thing than the path.
    const checked = {
      ...(query !== undefined && request.query),
      ...(body?.schema !== undefined && (request.body as object)),
    };
    const run = describeRun(request, reply.code(status));
    return await call(parts, getCaller(request), { ...checked, ...(request.params as object) }, run);
  };
}

/** Responds 405 with `Allow` to the methods for which a path has no route, before any body is read. */
function registerMethodCheck(app: FastifyInstance): void {
  // Methods that Node parses and Fastify does not know, such as PROPFIND, would otherwise get 404.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  for (const [url, methods] of ALLOWED_METHODS) {
    app.route({
      method: app.supportedMethods.filter((method) => !methods.includes(method)),
      url,
      onRequest: (request) => {
        const allow = methods.join(', ');
        const message = `${request.method} is not allowed here; use ${allow}`;
        throw new TailraceError('method_not_allowed', message, { headers: { allow } });
      },
      handler: () => {},
    });
  }
}
