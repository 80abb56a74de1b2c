import { METHODS } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { TailraceError } from '../../errors.ts';
import type { AppParts } from '../parts.ts';
import { createAuth, getCaller } from '../plugins/auth.ts';
import { compileValidator, createUnreadCheck } from '../plugins/checks.ts';
import { methodsOf, pathsOf, type RawQuery, type Route, type RouteGroup } from '../route.ts';
import { aboutRoutes } from './about.ts';
import { alertRoutes } from './alerts.ts';
import { authRoutes, sessionRoutes } from './auth.ts';
import { consoleRoutes } from './console.ts';
import { dashboardRoutes, definitionRoutes } from './definitions.ts';
import { ingestRoutes, otlpRoutes, protocolRoutes } from './ingest.ts';
import { keyRoutes, tokenRoutes } from './keys.ts';
import { deletionRoutes, localRoutes } from './local.ts';
import { mcpRoutes } from './mcp.ts';
import { adminRoutes, overviewRoutes } from './overview.ts';
import { queryRoutes } from './query.ts';
import { searchRoutes } from './search.ts';
import { workbenchRoutes } from './workbench.ts';
import { workbenchAlertRoutes, workbenchDashboardRoutes, workbenchSearchRoutes } from './workbench-files.ts';

/** Every group of routes, in the order of docs/api.md and /openapi.json. */
const GROUPS: readonly RouteGroup[] = [
  queryRoutes,
  searchRoutes,
  mcpRoutes,
  ingestRoutes,
  otlpRoutes,
  protocolRoutes,
  deletionRoutes,
  keyRoutes,
  tokenRoutes,
  sessionRoutes,
  authRoutes,
  alertRoutes,
  dashboardRoutes,
  definitionRoutes,
  overviewRoutes,
  adminRoutes,
  workbenchRoutes,
  workbenchAlertRoutes,
  workbenchDashboardRoutes,
  workbenchSearchRoutes,
  localRoutes,
  aboutRoutes,
  consoleRoutes,
];

export const ROUTES: readonly Route[] = GROUPS.flatMap(({ routes }) => routes);

/** Path → every method that is served there, in the order of `Allow`. */
export const ALLOWED_METHODS: ReadonlyMap<string, readonly string[]> = findAllowed();

function findAllowed(): Map<string, readonly string[]> {
  const allowed = new Map<string, readonly string[]>();
  for (const route of ROUTES)
    for (const path of pathsOf(route)) allowed.set(path, [...(allowed.get(path) ?? []), ...methodsOf(route)]);
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
    const limits = group.bodyBytesMax === undefined ? {} : { bodyLimit: group.bodyBytesMax };
    for (const route of group.routes) addRoute(scope, route, { group, parts, limits });
  });
}

type Handled = { Params: Readonly<Record<never, string>>; Querystring: RawQuery; Body: unknown };

function addRoute(
  app: FastifyInstance,
  route: Route,
  { group, parts, limits }: { group: RouteGroup; parts: AppParts; limits: object },
): void {
  const { method, query, body, cors } = route;
  const checkUnread = createUnreadCheck(route, group);
  const [status = 200] = Object.keys(route.answer ?? {}).map(Number);
  const bodyTypes = Object.keys(body?.content ?? {});
  const config = {
    ...(cors !== undefined && { cors }),
    ...(bodyTypes.length > 0 && { bodyTypes }),
    ...(route.bodies !== undefined && { eventBodies: route.bodies }),
    ...(route.writeError !== undefined && { writeError: route.writeError }),
  };
  for (const url of pathsOf(route)) {
    if (cors !== undefined) app.options(url, { config }, () => {}); // cors.ts responds before
    if (route.handle === undefined) continue;
    app.route<Handled>({
      ...{
        method,
        url,
        config,
        onRequest: [...createAuth(route), async (request) => checkUnread(request)],
        ...limits,
      },
      schema: {
        ...(query !== undefined && { querystring: query }),
        ...(body?.schema !== undefined && { body: body.schema }),
      },
      preValidation(request, _reply, done) {
        route.checkCaller?.(getCaller(request));
        if (request.body !== undefined) checkUnread(request);
        if (body?.schema !== undefined && !body.required) request.body ??= {};
        done();
      },
      handler: (request, reply) => route.handle?.(parts, request, reply.code(status)),
    });
  }
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
