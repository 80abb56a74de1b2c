import { METHODS } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { TailraceError } from '../../errors.ts';
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
const GROUPS = [
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
] as const;

/** The parts that the groups need: each name is one part, whichever groups take it. */
export type RouteParts = PartsOf<(typeof GROUPS)[number]>;

// The groups' parameters are inferred together, and so as the intersection of their parts.
type PartsOf<Group> = (Group extends RouteGroup<infer Parts> ? (parts: Parts) => void : never) extends (
  parts: infer All,
) => void
  ? All
  : never;

export const ROUTES: readonly Route[] = GROUPS.flatMap(({ routes }: RouteGroup<never>) => routes);

/** Path → every method that is served there, in the order of `Allow`. */
export const ALLOWED_METHODS: ReadonlyMap<string, readonly string[]> = findAllowed();

function findAllowed(): Map<string, readonly string[]> {
  const allowed = new Map<string, readonly string[]>();
  for (const route of ROUTES)
    for (const path of pathsOf(route)) allowed.set(path, [...(allowed.get(path) ?? []), ...methodsOf(route)]);
  return allowed;
}

/** Adds every route to the router, and 405 for the other methods of their paths. */
export async function registerRoutes(app: FastifyInstance, parts: RouteParts): Promise<void> {
  const groups: readonly RouteGroup<RouteParts>[] = GROUPS;
  for (const group of groups) await registerGroup(app, group, parts);
  registerMethodCheck(app);
}

/** Adds the routes of a group to the router, each with its checks of the key, the query string and the body. */
export async function registerGroup<Parts>(
  app: FastifyInstance,
  group: RouteGroup<Parts>,
  parts: Parts,
): Promise<void> {
  await app.register(async (scope) => {
    scope.setValidatorCompiler(compileValidator);
    await group.setup?.(scope, parts);
    const limits = group.bodyBytesMax === undefined ? {} : { bodyLimit: group.bodyBytesMax };
    for (const route of group.routes) addRoute(scope, route, { group, parts, limits });
  });
}

type Handled = { Params: Readonly<Record<never, string>>; Querystring: RawQuery; Body: unknown };

function addRoute<Parts>(
  app: FastifyInstance,
  route: Route<Parts>,
  { group, parts, limits }: { group: RouteGroup<Parts>; parts: Parts; limits: object },
): void {
  const { method, query, body, cors } = route;
  const checkUnread = createUnreadCheck(route, group);
  const [status = 200] = Object.keys(route.answer ?? {}).map(Number);
  const bodyTypes = Object.keys(body?.content ?? {});
  const config = {
    ...(cors !== undefined && { cors }),
    ...(bodyTypes.length > 0 && { bodyTypes }),
    ...(route.bodies !== undefined && { eventBodies: route.bodies }),
    ...(route.refusal !== undefined && { refusal: route.refusal }),
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
        route.refuse?.(getCaller(request));
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
