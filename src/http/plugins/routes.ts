import { METHODS } from 'node:http';
import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import { TailraceError } from '../../errors.ts';
import type { Keyring } from '../../keys/keyring.ts';
import { methodsOf, pathsOf, type RawQuery, type Route, type RouteGroup } from '../route.ts';
import { createAuth, createIngestAuth, createOptionalAuth, getCaller } from './auth.ts';
import { compileValidator } from './validation.ts';

/** Adds the routes of a group to the router, each with its checks of the key, the query string and the body. */
export async function registerGroup<Parts>(
  app: FastifyInstance,
  group: RouteGroup<Parts>,
  { parts, keyring }: { readonly parts: Parts; readonly keyring: Keyring },
): Promise<void> {
  await app.register(async (scope) => {
    scope.setValidatorCompiler(compileValidator);
    await group.setup?.(scope, parts);
    const limits = group.bodyBytesMax === undefined ? {} : { bodyLimit: group.bodyBytesMax(parts) };
    for (const route of group.routes)
      addRoute(scope, route, { parts, limits, onRequest: checkKey(route, keyring) });
  });
}

type Handled = { Params: Readonly<Record<never, string>>; Querystring: RawQuery; Body: unknown };

function addRoute<Parts>(
  app: FastifyInstance,
  route: Route<Parts>,
  { parts, limits, onRequest }: { parts: Parts; limits: object; onRequest: onRequestHookHandler[] },
): void {
  const { method, query, body, cors } = route;
  const [status = 200] = Object.keys(route.answer ?? {}).map(Number);
  const config = cors === undefined ? {} : { cors };
  for (const url of pathsOf(route)) {
    if (cors !== undefined) app.options(url, { config }, () => {}); // answered before by cors.ts
    if (route.handle === undefined) continue;
    app.route<Handled>({
      ...{ method, url, config, onRequest, ...limits },
      schema: {
        ...(query !== undefined && { querystring: query }),
        ...(body?.schema !== undefined && { body: body.schema }),
      },
      preValidation(request, _reply, done) {
        if (body?.schema !== undefined && !body.required) request.body ??= {};
        route.refuse?.(getCaller(request));
        done();
      },
      handler: (request, reply) => route.handle?.(parts, request, reply.code(status)),
    });
  }
}

function checkKey({ scopes, keyInQuery }: Route, keyring: Keyring): onRequestHookHandler[] {
  if (scopes === 'none') return [];
  if (scopes === 'optional') return [createOptionalAuth(keyring)];
  return [keyInQuery === true ? createIngestAuth(keyring) : createAuth(keyring, ...scopes)];
}

/** Path → every method that is served there, in the order of `Allow`. */
export function findAllowed(routes: readonly Route[]): ReadonlyMap<string, readonly string[]> {
  const allowed = new Map<string, readonly string[]>();
  for (const route of routes)
    for (const path of pathsOf(route)) allowed.set(path, [...(allowed.get(path) ?? []), ...methodsOf(route)]);
  return allowed;
}

/** Responds 405 with `Allow` to the methods for which a path has no route, before any body is read. */
export function registerMethodCheck(
  app: FastifyInstance,
  allowed: ReadonlyMap<string, readonly string[]>,
): void {
  // Methods that Node parses and Fastify does not know, such as PROPFIND, would otherwise be answered 404.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  for (const [url, methods] of allowed) {
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
