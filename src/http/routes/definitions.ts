import { TailraceError } from '../../errors.ts';
import { SCOPES } from '../../keys/grant.ts';
import { DASHBOARD, DASHBOARD_SUMMARY } from '../../management/dashboard-view.ts';
import { listDashboards, readDashboard } from '../../management/dashboards.ts';
import {
  toEndpointView,
  toSourceView,
  visibleEndpoints,
  visibleSources,
} from '../../management/definitions.ts';
import { ENDPOINT, PROJECTS, SOURCE } from '../../management/view.ts';
import { list, object } from '../openapi/schema.ts';
import { getCaller } from '../plugins/auth.ts';
import { defineRoute, json, type RouteGroup } from '../route.ts';

/** Serves the definitions and projects that a key may know of. */
export const definitionRoutes: RouteGroup = {
  routes: [
    defineRoute('GET /api/endpoints', ['query', 'manage'], {
      summary: 'Definitions of the endpoints that the key may know of',
      operation: { id: 'list_endpoints', tag: 'console' },
      answer: { 200: json('The present state.', object({ result: list(ENDPOINT) })) },
      handle: async ({ registry }, request) => {
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
      handle: async ({ registry, studio }, request) => {
        const result = visibleSources(registry.sources, getCaller(request)).map(toSourceView);
        return studio ? result : { result };
      },
    }),
    defineRoute('GET /api/backends', SCOPES, {
      summary: 'Log drains for Supabase Studio, with `TAILRACE_STUDIO=1`: none',
      errors: ['not_found'],
      handle: async ({ studio }) => {
        if (studio) return [];
        throw new TailraceError('not_found', 'this path is served only with TAILRACE_STUDIO=1');
      },
    }),
    defineRoute('GET /api/projects', ['query'], {
      summary: 'Projects that have events and that the key may read',
      operation: { id: 'list_projects', tag: 'console' },
      answer: { 200: json('The present state.', PROJECTS) },
      handle: ({ listProjects }, request) => listProjects(getCaller(request)),
    }),
  ],
};

/** Dashboards with the panels of the endpoints that a key may call: src/management/dashboards.ts. */
export const dashboardRoutes: RouteGroup = {
  routes: [
    defineRoute('GET /api/dashboards', ['query'], {
      summary: 'Dashboards of which the key sees a panel',
      operation: { id: 'list_dashboards', tag: 'console' },
      answer: { 200: json('The present state.', object({ result: list(DASHBOARD_SUMMARY) })) },
      handle: async (parts, request) => ({
        result: listDashboards(parts, getCaller(request)),
      }),
    }),
    defineRoute('GET /api/dashboards/:name', ['query'], {
      summary: 'One dashboard, with the panels of the endpoints that the key may call',
      operation: { id: 'get_dashboard', tag: 'console' },
      answer: { 200: json('The present state.', DASHBOARD) },
      errors: ['not_found'],
      handle: async (parts, request) => readDashboard(parts, getCaller(request), request.params.name),
    }),
  ],
};
