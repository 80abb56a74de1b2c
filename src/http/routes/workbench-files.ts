import { Type } from 'typebox';
import { ENDPOINT_NAME } from '../../definitions/endpoint.ts';
import { DASHBOARD_CHECK, DASHBOARD_FILE, SAVED_DASHBOARD } from '../../management/dashboard-view.ts';
import { ALERT_CHECK, ALERT_FILE, HISTORY, HISTORY_VERSION, SAVED_ALERT } from '../../management/view.ts';
import { checkAlertDraft, readAlertFile, type SaveAlertParts, saveAlert } from '../../workbench/alert.ts';
import {
  checkDashboardDraft,
  readDashboardFile,
  type SaveDashboardParts,
  saveDashboard,
} from '../../workbench/dashboard.ts';
import { toDraftError } from '../../workbench/draft.ts';
import { type HistoryParts, listHistory, readHistory } from '../../workbench/history.ts';
import { requireAuthor } from '../../workbench/workbench.ts';
import { getCaller } from '../plugins/auth.ts';
import { defineRoute, json, jsonBody, type RouteGroup } from '../route.ts';

const TEXT = Type.String({ expected: 'a string' });
const MAP = { additionalProperties: false, expected: 'an object' };
/** A save of a definition that is one file. */
const SAVE_FILE = Type.Object(
  {
    name: ENDPOINT_NAME,
    definition: TEXT,
    version: Type.Union([TEXT, Type.Null()], { expected: 'the version that was read, or null' }),
  },
  MAP,
);

const CHECK_FILE = Type.Object({ definition: TEXT }, MAP);

const ALERT_EXAMPLE = {
  definition: `name: checkout.errors
description: Checkout fails.
endpoint: failing.paths
every: 60
when: { column: failures, above: 10 }
text: "{{ failures }} failures"
to: [ops]
`,
};

const common = { scopes: ['manage'], refuse: requireAuthor } as const;

// A text of 64 KiB in JSON.
const FILE_BODY_BYTES_MAX = 512 * 1024;

/** Serves the files of alerts to the workbench of the console. */
export const workbenchAlertRoutes: RouteGroup<SaveAlertParts> = {
  bodyBytesMax: FILE_BODY_BYTES_MAX,
  routes: [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/api/workbench/alerts/:name',
      summary: 'The file of an alert as a text',
      operation: { id: 'get_alert_file', tag: 'console' },
      answer: { 200: json('The present state.', ALERT_FILE) },
      errors: ['not_found', 'conflict'],
      handle: (parts: SaveAlertParts, request) => readAlertFile(parts, request.params.name),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/api/workbench/alerts/check',
      summary: 'The faults of the text of an alert',
      operation: { id: 'check_alert', tag: 'console' },
      body: jsonBody(CHECK_FILE, { example: ALERT_EXAMPLE }),
      answer: { 200: json('Without faults `errors` is empty.', ALERT_CHECK) },
      handle: async (parts: SaveAlertParts, request) => ({
        errors: checkAlertDraft(parts, request.body.definition).map(toDraftError),
      }),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/api/workbench/alerts/save',
      summary: 'Write the file of an alert, and serve it',
      operation: {
        id: 'save_alert',
        tag: 'console',
        description:
          'With `TAILRACE_EDIT_ENDPOINTS=1` or in `tailrace dev`. `version` is that of the text that ' +
          'was read before; null for a new alert.',
      },
      body: jsonBody(SAVE_FILE, { example: { name: 'checkout.errors', ...ALERT_EXAMPLE, version: null } }),
      answer: { 200: json('Saved and served.', SAVED_ALERT) },
      errors: ['invalid_definition', 'conflict', 'overloaded'],
      handle: (parts: SaveAlertParts, request) => saveAlert(parts, request.body, getCaller(request)),
    }),
  ],
};

const DASHBOARD_EXAMPLE = {
  definition: `name: checkout
title: Checkout
rows:
  - panels: [{ endpoint: failing.paths }]
`,
};

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
      body: jsonBody(CHECK_FILE, { example: DASHBOARD_EXAMPLE }),
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
          'With `TAILRACE_EDIT_ENDPOINTS=1` or in `tailrace dev`. `version` is that of the text that ' +
          'was read before; null for a new dashboard.',
      },
      body: jsonBody(SAVE_FILE, { example: { name: 'checkout', ...DASHBOARD_EXAMPLE, version: null } }),
      answer: { 200: json('Saved and served.', SAVED_DASHBOARD) },
      errors: ['invalid_definition', 'conflict', 'overloaded'],
      handle: (parts: SaveDashboardParts, request) => saveDashboard(parts, request.body, getCaller(request)),
    }),
  ],
};

const ofHistory = { ...common, errors: ['not_found', 'endpoint_not_found'] } as const;

/** Serves earlier versions of definitions to the console. */
export const workbenchHistoryRoutes: RouteGroup<HistoryParts> = {
  routes: [
    defineRoute({
      ...ofHistory,
      method: 'GET',
      path: '/api/workbench/history/:kind/:name',
      summary: 'The kept versions of an endpoint, alert or dashboard',
      operation: {
        id: 'list_history',
        tag: 'console',
        description: '`kind` is `endpoints`, `alerts` or `dashboards`. Saves of this process, newest first.',
      },
      answer: { 200: json('Without saves the list is empty.', HISTORY) },
      handle: (parts: HistoryParts, request) => listHistory(parts, request.params),
    }),
    defineRoute({
      ...ofHistory,
      method: 'GET',
      path: '/api/workbench/history/:kind/:name/:id',
      summary: 'The texts of a kept version',
      operation: { id: 'get_history_version', tag: 'console' },
      answer: { 200: json('As it was saved.', HISTORY_VERSION) },
      handle: (parts: HistoryParts, request) => readHistory(parts, request.params),
    }),
  ],
};
