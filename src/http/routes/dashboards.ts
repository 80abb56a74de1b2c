import { DASHBOARD, DASHBOARD_SUMMARY } from '../../management/dashboard-view.ts';
import { type DashboardParts, listDashboards, readDashboard } from '../../management/dashboards.ts';
import { list, object } from '../openapi/schema.ts';
import { getCaller } from '../plugins/auth.ts';
import { defineRoute, json, type RouteGroup } from '../route.ts';

/** Dashboards with the panels of the endpoints that a key may call: src/management/dashboards.ts. */
export const dashboardRoutes: RouteGroup<DashboardParts> = {
  routes: [
    defineRoute({
      method: 'GET',
      path: '/api/dashboards',
      scopes: ['query'],
      summary: 'Dashboards of which the key sees a panel',
      operation: { id: 'list_dashboards', tag: 'console' },
      answer: { 200: json('The present state.', object({ result: list(DASHBOARD_SUMMARY) })) },
      handle: async (parts: DashboardParts, request) => ({
        result: listDashboards(parts, getCaller(request)),
      }),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/dashboards/:name',
      scopes: ['query'],
      summary: 'One dashboard, with the panels of the endpoints that the key may call',
      operation: { id: 'get_dashboard', tag: 'console' },
      answer: { 200: json('The present state.', DASHBOARD) },
      errors: ['not_found'],
      handle: async (parts: DashboardParts, request) =>
        readDashboard(parts, getCaller(request), request.params.name),
    }),
  ],
};
