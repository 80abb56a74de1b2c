import { Type } from 'typebox';
import { closed, wholeNumber } from '../../lib/schema.ts';
import {
  ALERT,
  ALERT_DETAIL,
  ALERT_ENTRY,
  ALERT_REPLAY,
  ALERT_TEST,
  SILENCE,
} from '../../management/alert-view.ts';
import { listAlertHistory, listAlerts, readAlert } from '../../management/alerts.ts';
import { endSilence, NEW_SILENCE, silenceAlert } from '../../management/silences.ts';
import { tryAlertDraft } from '../../workbench/definition-file.ts';
import { requireAuthor } from '../../workbench/workbench.ts';
import { list, object } from '../openapi/schema.ts';
import { getCaller } from '../plugins/auth.ts';
import { defineRoute, json, jsonBody, pageQuery, type RouteGroup } from '../route.ts';
import { describeRun } from './query.ts';

const REPLAY = closed({
  since_seconds: wholeNumber(365 * 86_400, { unit: 'seconds', description: 'How far it goes back.' }),
});

const TEXT = Type.String();
const DRAFT = closed({
  definition: TEXT,
  endpoint: Type.Optional(
    closed({ definition: TEXT, sql: TEXT }, { description: 'Its endpoint, if it is not saved.' }),
  ),
});

/** Alerts of the endpoints that a key may read: src/management/alerts.ts. */
export const alertRoutes: RouteGroup = {
  bodyBytesMax: 512 * 1024, // a text of 64 KiB in JSON
  routes: [
    defineRoute('GET /api/alerts', ['query'], {
      summary: 'Alerts of the endpoints that the key may read, with their states',
      operation: { id: 'list_alerts', tag: 'console' },
      answer: { 200: json('The present state.', object({ result: list(ALERT) })) },
      handle: async (parts, request) => ({ result: await listAlerts(parts, getCaller(request)) }),
    }),
    defineRoute('GET /api/alerts/:name', ['query'], {
      summary: 'One alert, with what its evaluations saw in the last day',
      operation: { id: 'get_alert', tag: 'console' },
      answer: { 200: json('The present state.', ALERT_DETAIL) },
      errors: ['not_found'],
      handle: (parts, request) => readAlert(parts, getCaller(request), request.params.name),
    }),
    defineRoute('GET /api/alerts/:name/history', ['query'], {
      summary: 'What happened to an alert, newest first, for 90 days',
      operation: { id: 'list_alert_history', tag: 'console' },
      query: Type.Object(pageQuery({ maxLength: 100, expected: 'the id of the last one seen' })),
      answer: { 200: json('A page.', object({ result: list(ALERT_ENTRY) })) },
      errors: ['not_found'],
      handle: async (parts, request) => ({
        result: await listAlertHistory(parts, getCaller(request), {
          name: request.params.name,
          ...request.query,
        }),
      }),
    }),
    defineRoute('POST /api/alerts/:name/silences', ['manage'], {
      summary: 'Stop the messages of an alert until an instant; what fires then is sent',
      operation: { id: 'silence_alert', tag: 'console' },
      body: jsonBody(NEW_SILENCE, {
        example: { until: '2026-11-20T18:00:00Z', comment: 'the database is upgraded' },
      }),
      answer: { 201: json('The silence.', SILENCE) },
      errors: ['not_found'],
      handle: (parts, request) =>
        silenceAlert(parts, getCaller(request), { name: request.params.name, ...request.body }),
    }),
    defineRoute('DELETE /api/alerts/:name/silences/:id', ['manage'], {
      summary: 'End a silence early',
      operation: { id: 'end_silence', tag: 'console' },
      answer: { 204: { description: 'Ended.' } },
      errors: ['not_found'],
      async handle(parts, request, reply) {
        await endSilence(parts, getCaller(request), request.params);
        return reply.send();
      },
    }),
    defineRoute('POST /api/alerts/:name/test', ['manage'], {
      summary: 'Send the receivers of an alert a test message',
      operation: { id: 'test_alert', tag: 'console' },
      answer: { 200: json('For each receiver whether it has accepted the message.', ALERT_TEST) },
      errors: ['not_found', 'rate_limited', 'query_timeout'],
      handle: ({ alertTests }, request, reply) =>
        alertTests.test(getCaller(request), request.params.name, describeRun(request, reply).signal),
    }),
    defineRoute('POST /api/alerts/:name/replay', ['manage'], {
      summary: 'When an alert would have fired in the time before now; sends nothing',
      operation: { id: 'replay_alert', tag: 'console' },
      body: jsonBody(REPLAY, { example: { since_seconds: 86_400 } }),
      answer: { 200: json('What it would have sent.', ALERT_REPLAY) },
      errors: ['not_found', 'rate_limited'],
      handle: ({ alertTests }, request, reply) => {
        request.socket.setTimeout(0); // longer than an idle connection lives
        const asked = { name: request.params.name, ...request.body };
        return alertTests.replay(getCaller(request), asked, describeRun(request, reply).signal);
      },
    }),
    defineRoute('POST /api/workbench/alerts/try', ['manage'], {
      checkCaller: requireAuthor,
      summary: 'When the alert of a text would have fired in the last week; sends nothing',
      operation: { id: 'try_alert', tag: 'console' },
      body: jsonBody(DRAFT, {
        example: { definition: 'name: checkout.errors\n…' },
      }),
      answer: { 200: json('What it would have sent.', ALERT_REPLAY) },
      errors: ['invalid_definition', 'rate_limited'],
      handle: (parts, request, reply) => tryAlertDraft(parts, request.body, describeRun(request, reply)),
    }),
  ],
};
