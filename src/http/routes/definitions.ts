import { TailraceError } from '../../errors.ts';
import { SCOPES } from '../../keys/grant.ts';
import { DASHBOARD, DASHBOARD_SUMMARY } from '../../management/dashboard-view.ts';
import {
  listDashboards,
  readDashboard,
  toEndpointView,
  toSourceView,
  visibleEndpoints,
  visibleSources,
} from '../../management/definitions.ts';
import { ENDPOINT, PROJECTS, SOURCE } from '../../management/view.ts';
import { defineGroup, defineRoute, json, operation, rows } from '../route.ts';

/** Serves the definitions and projects that a key may know of. */
export const definitionRoutes = defineGroup({
  tag: 'console',
  routes: [
    operation('list_dashboards', 'GET /api/dashboards', ['query'], {
      summary: 'Dashboards of which the key sees a panel',
      answer: { 200: rows('The present state.', DASHBOARD_SUMMARY) },
      call: listDashboards,
    }),
    operation('get_dashboard', 'GET /api/dashboards/:name', ['query'], {
      summary: 'One dashboard, with the panels of the endpoints that the key may call',
      answer: { 200: json('The present state.', DASHBOARD) },
      call: readDashboard,
    }),
    operation('list_endpoints', 'GET /api/endpoints', ['query', 'manage'], {
      summary: 'Definitions of the endpoints that the key may know of',
      answer: { 200: rows('The present state.', ENDPOINT) },
      call({ registry: { endpoints, sources } }, caller) {
        return {
          result: visibleEndpoints(endpoints, caller).map((one) => toEndpointView(one, caller, sources)),
        };
      },
    }),
    operation('list_sources', 'GET /api/sources', ['ingest', 'manage'], {
      summary: 'Definitions of the sources that the key may know of',
      description: 'With `TAILRACE_STUDIO=1` the response is the list itself.',
      answer: { 200: rows('The present state.', SOURCE) },
      call({ registry, studio }, caller) {
        const result = visibleSources(registry.sources, caller).map(toSourceView);
        return studio ? result : { result };
      },
    }),
    defineRoute('GET /api/backends', SCOPES, {
      summary: 'Log drains for Supabase Studio, with `TAILRACE_STUDIO=1`: none',
      call({ studio }) {
        if (studio) return [];
        throw new TailraceError('not_found', 'this path is served only with TAILRACE_STUDIO=1');
      },
    }),
    operation('list_projects', 'GET /api/projects', ['query'], {
      summary: 'Projects that have events and that the key may read',
      answer: { 200: json('The present state.', PROJECTS) },
      call: ({ listProjects }, caller) => listProjects(caller),
    }),
  ],
});
