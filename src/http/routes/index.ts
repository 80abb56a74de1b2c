import type { FastifyInstance } from 'fastify';
import type { Keyring } from '../../keys/keyring.ts';
import { findAllowed, registerGroup, registerMethodCheck } from '../plugins/routes.ts';
import type { Route, RouteGroup } from '../route.ts';
import { aboutRoutes } from './about.ts';
import { consoleRoutes } from './console.ts';
import { definitionRoutes } from './definitions.ts';
import { deletionRoutes } from './deletions.ts';
import { ingestRoutes } from './ingest.ts';
import { keyRoutes } from './keys.ts';
import { otlpRoutes } from './otlp.ts';
import { overviewRoutes } from './overview.ts';
import { queryRoutes } from './query.ts';
import { tokenRoutes } from './tokens.ts';

/** Every group of routes, in the order of docs/api.md and /openapi.json. */
const GROUPS = {
  query: queryRoutes,
  ingest: ingestRoutes,
  otlp: otlpRoutes,
  deletions: deletionRoutes,
  keys: keyRoutes,
  tokens: tokenRoutes,
  definitions: definitionRoutes,
  overview: overviewRoutes,
  about: aboutRoutes,
  console: consoleRoutes,
};

type GroupName = keyof typeof GROUPS;

/** What each group works with. */
export type RouteParts = {
  readonly [Name in GroupName]: (typeof GROUPS)[Name] extends RouteGroup<infer Parts> ? Parts : never;
};

export const ROUTES: readonly Route[] = Object.values<RouteGroup<never>>(GROUPS).flatMap(
  ({ routes }) => routes,
);

export const ALLOWED_METHODS = findAllowed(ROUTES);

/** Adds every route to the router, and 405 for the other methods of their paths. */
export async function registerRoutes(
  app: FastifyInstance,
  parts: RouteParts,
  keyring: Keyring,
): Promise<void> {
  const groups: { readonly [Name in GroupName]: RouteGroup<RouteParts[Name]> } = GROUPS;
  const register = <Name extends GroupName>(name: Name) =>
    registerGroup<RouteParts[Name]>(app, groups[name], { parts: parts[name], keyring });
  for (const name of Object.keys(GROUPS) as GroupName[]) await register(name); // its keys are its names
  registerMethodCheck(app, ALLOWED_METHODS);
}
