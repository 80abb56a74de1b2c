import { Type } from 'typebox';
import type { AlertParts } from '../../management/alert-access.ts';
import type { TestAlert } from '../../management/alert-test.ts';
import { ALERT, ALERT_DETAIL, ALERT_ENTRY, ALERT_TEST, SILENCE } from '../../management/alert-view.ts';
import { listAlertHistory, listAlerts, readAlert } from '../../management/alerts.ts';
import { endSilence, listSilences, NEW_SILENCE, silenceAlert } from '../../management/silences.ts';
import { list, object } from '../openapi/schema.ts';
import { getCaller } from '../plugins/auth.ts';
import { defineRoute, json, jsonBody, type RouteGroup } from '../route.ts';
import { describeRun } from './query.ts';

export interface AlertRouteParts extends AlertParts {
  readonly testAlert: TestAlert;
}

const ENTRIES_MAX = 1_000;

/** Alerts of the endpoints that a key may read: src/management/alerts.ts. */
export const alertRoutes: RouteGroup<AlertRouteParts> = {
  bodyBytesMax: 64 * 1024, // far above a silence, however it is escaped
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
      path: '/api/alerts/:name',
      scopes: ['query'],
      summary: 'One alert, with what its evaluations saw in the last day',
      operation: { id: 'get_alert', tag: 'console' },
      answer: { 200: json('The present state.', ALERT_DETAIL) },
      errors: ['not_found'],
      handle: (parts: AlertParts, request) => readAlert(parts, getCaller(request), request.params.name),
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
    defineRoute({
      method: 'DELETE',
      path: '/api/alerts/:name/silences/:id',
      scopes: ['manage'],
      summary: 'End a silence early',
      operation: { id: 'end_silence', tag: 'console' },
      answer: { 204: { description: 'Ended.' } },
      errors: ['not_found'],
      async handle(parts: AlertParts, request, reply) {
        await endSilence(parts, getCaller(request), request.params);
        return reply.send();
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/silences',
      scopes: ['manage'],
      summary: 'Silences of every alert, by labels',
      operation: { id: 'list_silences', tag: 'console' },
      answer: { 200: json('The present state.', object({ result: list(SILENCE) })) },
      handle: async (parts: AlertParts, request) => ({
        result: await listSilences(parts, getCaller(request)),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/silences',
      scopes: ['manage'],
      summary: 'Stop the messages of every alert about instances with some labels, until an instant',
      operation: { id: 'silence_alerts', tag: 'console' },
      body: jsonBody(NEW_SILENCE, {
        example: { until: '2026-11-20T18:00:00Z', comment: 'the region is moved', labels: { region: 'eu' } },
      }),
      answer: { 201: json('The silence.', SILENCE) },
      handle: (parts: AlertParts, request) => silenceAlert(parts, getCaller(request), request.body),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/silences/:id',
      scopes: ['manage'],
      summary: 'End a silence of every alert early',
      operation: { id: 'end_silence_of_alerts', tag: 'console' },
      answer: { 204: { description: 'Ended.' } },
      errors: ['not_found'],
      async handle(parts: AlertParts, request, reply) {
        await endSilence(parts, getCaller(request), { id: request.params.id });
        return reply.send();
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/alerts/:name/test',
      scopes: ['manage'],
      summary: 'Send the receivers of an alert a test message',
      operation: { id: 'test_alert', tag: 'console' },
      answer: { 200: json('For each receiver whether it has accepted the message.', ALERT_TEST) },
      errors: ['not_found', 'rate_limited', 'query_timeout'],
      handle: ({ testAlert }: AlertRouteParts, request, reply) =>
        testAlert(getCaller(request), request.params.name, describeRun(request, reply).signal),
    }),
  ],
};
