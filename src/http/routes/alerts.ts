import { Type } from 'typebox';
import { ALERT, ALERT_ENTRY, SILENCE } from '../../management/alert-view.ts';
import {
  type AlertParts,
  listAlertHistory,
  listAlerts,
  NEW_SILENCE,
  silenceAlert,
} from '../../management/alerts.ts';
import { list, object } from '../openapi/schema.ts';
import { getCaller } from '../plugins/auth.ts';
import { defineRoute, json, jsonBody, type RouteGroup } from '../route.ts';

const ENTRIES_MAX = 1_000;

/** Alerts of the endpoints that a key may read: src/management/alerts.ts. */
export const alertRoutes: RouteGroup<AlertParts> = {
  bodyBytesMax: () => 64 * 1024, // far above a silence, however it is escaped
  routes: [
    defineRoute({
      method: 'GET',
      path: '/api/alerts',
      scopes: ['query'],
      summary: 'Alerts of the endpoints that the key may read, with their states',
      operation: { id: 'list_alerts', tag: 'console' },
      answer: { 200: json('The present state.', object({ result: list(ALERT) })) },
      handle: async (parts: AlertParts, request) => ({ result: await listAlerts(parts, getCaller(request)) }),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/alerts/:name/history',
      scopes: ['query'],
      summary: 'What happened to an alert, newest first, for 90 days',
      operation: { id: 'list_alert_history', tag: 'console' },
      query: Type.Object({
        limit: Type.Integer({
          minimum: 1,
          maximum: ENTRIES_MAX,
          default: 100,
          description: 'Entries.',
          expected: `a whole number from 1 to ${ENTRIES_MAX}`,
        }),
        before: Type.Optional(
          Type.String({
            maxLength: 100,
            description: 'Id of the last one seen.',
            expected: 'the id of the last one seen',
          }),
        ),
      }),
      answer: { 200: json('A page.', object({ result: list(ALERT_ENTRY) })) },
      errors: ['not_found'],
      handle: async (parts: AlertParts, request) => ({
        result: await listAlertHistory(parts, getCaller(request), {
          name: request.params.name,
          ...request.query,
        }),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/alerts/:name/silences',
      scopes: ['manage'],
      summary: 'Stop the messages of an alert until an instant; what fires then is sent',
      operation: { id: 'silence_alert', tag: 'console' },
      body: jsonBody(NEW_SILENCE, {
        example: { until: '2026-11-20T18:00:00Z', comment: 'the database is upgraded' },
      }),
      answer: { 201: json('The silence.', SILENCE) },
      errors: ['not_found'],
      handle: (parts: AlertParts, request) =>
        silenceAlert(parts, getCaller(request), { name: request.params.name, ...request.body }),
    }),
  ],
};
