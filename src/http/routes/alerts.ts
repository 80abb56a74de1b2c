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
import {
  endSilence,
  listAlertHistory,
  listAlerts,
  NEW_SILENCE,
  readAlert,
  silenceAlert,
} from '../../management/alerts.ts';
import { ALERT_DRAFT, tryAlertDraft } from '../../workbench/definition-file.ts';
import { requireAuthor } from '../../workbench/workbench.ts';
import { defineGroup, describeRun, getCaller, json, jsonBody, operation, pageQuery, rows } from '../route.ts';

const REPLAY = closed({
  since_seconds: wholeNumber(365 * 86_400, { unit: 'seconds', description: 'How far it goes back.' }),
});

/** Alerts of the endpoints that a key may read: src/management/alerts.ts. */
export const alertRoutes = defineGroup({
  tag: 'console',
  bodyBytesMax: 512 * 1024, // a text of 64 KiB in JSON
  routes: [
    operation('list_alerts', 'GET /api/alerts', ['query'], {
      summary: 'Alerts of the endpoints that the key may read, with their states',
      answer: { 200: rows('The present state.', ALERT) },
      call: listAlerts,
    }),
    operation('get_alert', 'GET /api/alerts/:name', ['query'], {
      summary: 'One alert, with what its evaluations saw in the last day',
      answer: { 200: json('The present state.', ALERT_DETAIL) },
      call: readAlert,
    }),
    operation('list_alert_history', 'GET /api/alerts/:name/history', ['query'], {
      summary: 'What happened to an alert, newest first, for 90 days',
      query: Type.Object(pageQuery({ maxLength: 100, expected: 'the id of the last one seen' })),
      answer: { 200: rows('A page.', ALERT_ENTRY) },
      call: listAlertHistory,
    }),
    operation('silence_alert', 'POST /api/alerts/:name/silences', ['manage'], {
      summary: 'Stop the messages of an alert until an instant; what fires then is sent',
      body: jsonBody(NEW_SILENCE, {
        example: { until: '2026-11-20T18:00:00Z', comment: 'the database is upgraded' },
      }),
      answer: { 201: json('The silence.', SILENCE) },
      call: silenceAlert,
    }),
    operation('end_silence', 'DELETE /api/alerts/:name/silences/:id', ['manage'], {
      summary: 'End a silence early',
      answer: { 204: { description: 'Ended.' } },
      call: endSilence,
    }),
    operation('test_alert', 'POST /api/alerts/:name/test', ['manage'], {
      summary: 'Send the receivers of an alert a test message',
      answer: { 200: json('For each receiver whether it has accepted the message.', ALERT_TEST) },
      errors: ['rate_limited', 'query_timeout'],
      call: ({ alertTests }, caller, { name }, { signal }) => alertTests.test(caller, name, signal),
    }),
    operation('replay_alert', 'POST /api/alerts/:name/replay', ['manage'], {
      summary: 'When an alert would have fired in the time before now; sends nothing',
      body: jsonBody(REPLAY, { example: { since_seconds: 86_400 } }),
      answer: { 200: json('What it would have sent.', ALERT_REPLAY) },
      errors: ['rate_limited'],
      handle: ({ alertTests }, request, reply) => {
        request.socket.setTimeout(0); // longer than an idle connection lives
        const asked = { ...request.params, ...request.body };
        return alertTests.replay(getCaller(request), asked, describeRun(request, reply).signal);
      },
    }),
    operation('try_alert', 'POST /api/workbench/alerts/try', ['manage'], {
      checkCaller: requireAuthor,
      summary: 'When the alert of a text would have fired in the last week; sends nothing',
      body: jsonBody(ALERT_DRAFT, { example: { definition: 'name: checkout.errors\n…' } }),
      answer: { 200: json('What it would have sent.', ALERT_REPLAY) },
      errors: ['invalid_definition', 'rate_limited'],
      call: (parts, _caller, draft, run) => tryAlertDraft(parts, draft, run),
    }),
  ],
});
