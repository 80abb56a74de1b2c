import { DASHBOARD_CHECK, DASHBOARD_FILE, SAVED_DASHBOARD } from '../../management/dashboard-view.ts';
import {
  checkDashboardDraft,
  readDashboardFile,
  type SaveDashboardParts,
  saveDashboard,
} from '../../workbench/dashboard.ts';
import { requireAuthor } from '../../workbench/workbench.ts';
import { getCaller } from '../plugins/auth.ts';
import { defineRoute, json, jsonBody, type RouteGroup } from '../route.ts';
import { CHECK_FILE, FILE_BODY_BYTES_MAX, SAVE_FILE } from './workbench-alerts.ts';

const EXAMPLE = {
  definition: `name: checkout
title: Checkout
rows:
  - panels: [{ endpoint: failing.paths }]
`,
};

const common = { scopes: ['manage'], refuse: requireAuthor } as const;

/** Serves the files of dashboards to the console. */
export const workbenchDashboardRoutes: RouteGroup<SaveDashboardParts> = {
  bodyBytesMax: FILE_BODY_BYTES_MAX,
  routes: [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/api/workbench/dashboards/:name',
      summary: 'The file of a dashboard as a text',
      operation: { id: 'get_dashboard_file', tag: 'console' },
      answer: { 200: json('The present state.', DASHBOARD_FILE) },
      errors: ['not_found', 'conflict'],
      handle: (parts: SaveDashboardParts, request) => readDashboardFile(parts, request.params.name),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/api/workbench/dashboards/check',
      summary: 'The faults of the text of a dashboard, and the dashboard that it would be',
      operation: { id: 'check_dashboard', tag: 'console' },
      body: jsonBody(CHECK_FILE, { example: EXAMPLE }),
      answer: {
        200: json(
          'Without faults `errors` is empty; `dashboard` is null if it cannot be read.',
          DASHBOARD_CHECK,
        ),
      },
      handle: async (parts: SaveDashboardParts, request) =>
        checkDashboardDraft(parts, request.body.definition, getCaller(request)),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/api/workbench/dashboards/save',
      summary: 'Write the file of a dashboard, and serve it',
      operation: {
        id: 'save_dashboard',
        tag: 'console',
        description:
          'With `TAILRACE_EDIT_ENDPOINTS=1` or in `tailrace dev`. `version` is that of the text that was read before; null for a new dashboard.',
      },
      body: jsonBody(SAVE_FILE, { example: { name: 'checkout', ...EXAMPLE, version: null } }),
      answer: { 200: json('Saved and served.', SAVED_DASHBOARD) },
      errors: ['invalid_definition', 'conflict', 'overloaded'],
      handle: (parts: SaveDashboardParts, request) => saveDashboard(parts, request.body, getCaller(request)),
    }),
  ],
};
