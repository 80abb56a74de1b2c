import type { Registry } from '../../definitions/registry.ts';
import { TailraceError } from '../../errors.ts';
import { SCOPES } from '../../keys/grant.ts';
import type { Caller } from '../../keys/keyring.ts';
import { DASHBOARD, DASHBOARD_SUMMARY } from '../../management/dashboard-view.ts';
import { type DashboardParts, listDashboards, readDashboard } from '../../management/dashboards.ts';
import {
  toEndpointView,
  toSourceView,
  visibleEndpoints,
  visibleSources,
} from '../../management/definitions.ts';
import { ENDPOINT, PROJECTS, type Projects, SOURCE } from '../../management/view.ts';
import { list, object } from '../openapi/schema.ts';
import { getCaller } from '../plugins/auth.ts';
import { defineRoute, json, type RouteGroup } from '../route.ts';

export interface DefinitionParts {
  readonly registry: Registry;
  readonly listProjects: (caller: Caller) => Promise<Projects>;
  /** Whether lists have the shape that Supabase Studio reads. */
  readonly studio: boolean;
}

/** Serves the definitions and projects that a key may know of. */
export const definitionRoutes: RouteGroup<DefinitionParts> = {
  routes: [
    defineRoute('GET /api/endpoints', ['query', 'manage'], {
      summary: 'Definitions of the endpoints that the key may know of',
      operation: { id: 'list_endpoints', tag: 'console' },
      answer: { 200: json('The present state.', object({ result: list(ENDPOINT) })) },
      handle: async ({ registry }: DefinitionParts, request) => {
        const caller = getCaller(request);
        const endpoints = visibleEndpoints(registry.endpoints, caller);
        return { result: endpoints.map((endpoint) => toEndpointView(endpoint, caller, registry.sources)) };
      },
    }),
    defineRoute('GET /api/sources', ['ingest', 'manage'], {
      summary: 'Definitions of the sources that the key may know of',
      operation: {
        id: 'list_sources',
        tag: 'console',
        description: 'With `TAILRACE_STUDIO=1` the response is the list itself.',
      },
      answer: { 200: json('The present state.', object({ result: list(SOURCE) })) },
      handle: async ({ registry, studio }: DefinitionParts, request) => {
        const result = visibleSources(registry.sources, getCaller(request)).map(toSourceView);
        return studio ? result : { result };
      },
    }),
    defineRoute('GET /api/backends', SCOPES, {
      summary: 'Log drains for Supabase Studio, with `TAILRACE_STUDIO=1`: none',
      errors: ['not_found'],
      handle: async ({ studio }: DefinitionParts) => {
        if (studio) return [];
        throw new TailraceError('not_found', 'this path is served only with TAILRACE_STUDIO=1');
      },
    }),
    defineRoute('GET /api/projects', ['query'], {
      summary: 'Projects that have events and that the key may read',
      operation: { id: 'list_projects', tag: 'console' },
      answer: { 200: json('The present state.', PROJECTS) },
      handle: ({ listProjects }: DefinitionParts, request) => listProjects(getCaller(request)),
    }),
  ],
};

/** Dashboards with the panels of the endpoints that a key may call: src/management/dashboards.ts. */
export const dashboardRoutes: RouteGroup<DashboardParts> = {
  routes: [
    defineRoute('GET /api/dashboards', ['query'], {
      summary: 'Dashboards of which the key sees a panel',
      operation: { id: 'list_dashboards', tag: 'console' },
      answer: { 200: json('The present state.', object({ result: list(DASHBOARD_SUMMARY) })) },
      handle: async (parts: DashboardParts, request) => ({
        result: listDashboards(parts, getCaller(request)),
      }),
    }),
    defineRoute('GET /api/dashboards/:name', ['query'], {
      summary: 'One dashboard, with the panels of the endpoints that the key may call',
      operation: { id: 'get_dashboard', tag: 'console' },
      answer: { 200: json('The present state.', DASHBOARD) },
      errors: ['not_found'],
      handle: async (parts: DashboardParts, request) =>
        readDashboard(parts, getCaller(request), request.params.name),
    }),
  ],
};
