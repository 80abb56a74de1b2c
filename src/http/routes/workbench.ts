import { Type } from 'typebox';
import type { Caller } from '../../keys/keyring.ts';
import { closed } from '../../lib/schema.ts';
import { DASHBOARD_CHECK } from '../../management/dashboard-view.ts';
import { toDashboardView, toParameterViews } from '../../management/definitions.ts';
import {
  ALERT_CHECK,
  ALERT_FILE,
  DRAFT_CHECK,
  type DraftCheck,
  ENDPOINT_FILES,
  RUN_REPORT,
  SAVED_ALERT,
  SAVED_ENDPOINT,
  SAVED_TEST,
  WORKBENCH,
} from '../../management/workbench-view.ts';
import { checkDraft } from '../../workbench/check.ts';
import {
  checkText,
  EDITED_ALERTS,
  EDITED_DASHBOARDS,
  EDITED_SEARCHES,
  type EditedKind,
  NEW_FILE_VERSION,
  readDefinitionFile,
  saveDefinitionFile,
} from '../../workbench/definition-file.ts';
import { DRAFT, toDraftError, VALUES } from '../../workbench/draft.ts';
import { runDraft } from '../../workbench/run.ts';
import { NEW_VERSION } from '../../workbench/save.ts';
import { addTest, NEW_TEST } from '../../workbench/tests.ts';
import { describeWorkbench, readFiles, requireAuthor } from '../../workbench/workbench.ts';
import { list, object, plain } from '../openapi/schema.ts';
import type { AppParts } from '../parts.ts';
import { defineGroup, describeRun, json, jsonBody, operation, QUERY_ERRORS, type Route } from '../route.ts';

const CALL = closed({ ...DRAFT.properties, values: Type.Optional(VALUES) });

const DEFINITION_EXAMPLE = `name: errors.by-path
description: Failed requests by path.
max_rows: 100
caching: disabled
parameters:
  project: { type: string, required: true, description: Project. }
`;
const EXAMPLE = {
  definition: DEFINITION_EXAMPLE,
  sql:
    'SELECT path, count() AS n FROM edge_logs WHERE project = @project AND status_code >= 500 ' +
    'GROUP BY path ORDER BY n DESC',
};
const CALL_EXAMPLE = { ...EXAMPLE, values: { project: 'aurora' } };

// Two texts of 64 KiB and values, in JSON.
const BODY_BYTES_MAX = 1024 * 1024;

/** Serves the workbench of the console: SQL over the tables of all sources, for keys that may read everything. */
export const workbenchRoutes = defineGroup({
  tag: 'console',
  checkCaller: requireAuthor,
  bodyBytesMax: BODY_BYTES_MAX,
  routes: [
    operation('get_workbench', 'GET /api/workbench', ['manage'], {
      summary: 'Completions for an editor of endpoints, and whether it may save',
      answer: { 200: json('The present state.', WORKBENCH) },
      call: describeWorkbench,
    }),
    operation('get_endpoint_files', 'GET /api/workbench/endpoints/:name', ['manage'], {
      summary: 'The two files of an endpoint as texts',
      answer: { 200: json('The present state.', ENDPOINT_FILES) },
      errors: ['conflict'],
      call: (parts, _caller, { name }) => readFiles(parts, name),
    }),
    operation('run_draft', 'POST /api/workbench/run', ['manage'], {
      summary: 'Run a draft of an endpoint, within its limits and uncached',
      body: jsonBody(CALL, { example: CALL_EXAMPLE }),
      answer: {
        200: json('Rows as the endpoint would return them.', {
          allOf: [object({ result: list({ type: 'object' }) }), plain(RUN_REPORT)],
        }),
      },
      errors: ['invalid_parameter', 'invalid_definition', 'rate_limited', ...QUERY_ERRORS],
      async handle(parts, request, reply) {
        const draft = { values: {}, ...request.body };
        const { rows, count, report } = await runDraft(parts, draft, describeRun(request, reply));
        request.detail = { rows: count, rows_read: report.rows_read, engine_ms: report.engine_ms };
        const end = Buffer.from(`],${JSON.stringify(report).slice(1)}`);
        reply.type('application/json; charset=utf-8');
        return reply.send(Buffer.concat([Buffer.from('{"result":['), rows, end])); // the engine's bytes
      },
    }),
    operation('check_draft', 'POST /api/workbench/check', ['manage'], {
      summary: 'The faults of a draft, its parameters and its columns',
      body: jsonBody(DRAFT, { example: EXAMPLE }),
      answer: { 200: json('Without faults `errors` is empty.', DRAFT_CHECK) },
      errors: ['overloaded', 'query_timeout'],
      async call(parts, _caller, texts, run): Promise<DraftCheck> {
        const { draft, columns, faults } = await checkDraft(parts, texts, run);
        const parameters = draft.endpoint === undefined ? [] : toParameterViews(draft.endpoint, {});
        return { parameters, columns: [...columns], errors: faults.map(toDraftError) };
      },
    }),
    operation('save_endpoint', 'POST /api/workbench/save', ['manage'], {
      summary: 'Write the two files of an endpoint, serve them, and run its tests',
      description:
        'With `TAILRACE_EDIT_ENDPOINTS=1` or in `tailrace dev`. A failed test does not undo the ' +
        'save. `version` is that of the texts that were read before; null for a new endpoint, which ' +
        'may bring `test`, a file of tests.',
      body: jsonBody(NEW_VERSION, { example: { name: 'errors.by-path', ...EXAMPLE, version: null } }),
      answer: { 200: json('Saved and served.', SAVED_ENDPOINT) },
      errors: ['invalid_definition', 'conflict', ...QUERY_ERRORS],
      call: ({ save }, caller, request, run) => save(request, caller, run),
    }),
    operation('add_test', 'POST /api/workbench/tests', ['manage'], {
      summary: 'Add the result of a run to the tests of an endpoint, and run them',
      description:
        'Writes a case into `tests/results.yaml`, where endpoints may be saved: `now`, `values` and ' +
        'at most 20 `rows`, a text of JSON. A failed test does not undo it.',
      body: jsonBody(NEW_TEST, {
        example: {
          name: 'errors.by-path',
          title: 'counts failed requests by path',
          now: '2026-11-20T12:00:00Z',
          values: { project: 'aurora' },
          rows: '[{"path":"/rest/v1/orders","n":1}]',
        },
      }),
      answer: { 200: json('Added.', SAVED_TEST) },
      errors: ['endpoint_not_found', 'conflict', 'overloaded'],
      call: (parts, caller, request, execution) => addTest(parts, request, { caller, execution }),
    }),
  ],
});

interface Shown<T> {
  /** A definition without faults, by this name. */
  readonly example: { readonly name: string; readonly definition: string };
  /** The response of a check. */
  readonly checked?: ReturnType<typeof json>;
  /** What it has besides the faults. */
  readonly show?: (item: T | undefined, parts: AppParts, caller: Caller) => object;
}

/** The routes for the files of a kind of definition. */
function createFileRoutes<T>(kind: EditedKind<T>, { example, checked, show }: Shown<T>): Route[] {
  const { noun, nouns } = kind;
  const a = /^[aeiou]/.test(noun) ? 'an' : 'a';
  return [
    operation(`get_${noun}_file`, `GET /api/workbench/${nouns}/:name`, ['manage'], {
      summary: `The file of ${a} ${noun} as a text`,
      answer: { 200: json('The present state.', ALERT_FILE) },
      errors: ['conflict'],
      call: (parts, _caller, { name }) => readDefinitionFile(kind, parts, name),
    }),
    operation(`check_${noun}`, `POST /api/workbench/${nouns}/check`, ['manage'], {
      summary: `The faults of the text of ${a} ${noun}`,
      body: jsonBody(closed({ definition: Type.String() }), { example: { definition: example.definition } }),
      answer: { 200: checked ?? json('Without faults `errors` is empty.', ALERT_CHECK) },
      call(parts, caller, { definition }) {
        const { faults, item } = checkText(kind, parts, definition);
        return { errors: faults.map(toDraftError), ...show?.(item, parts, caller) };
      },
    }),
    operation(`save_${noun}`, `POST /api/workbench/${nouns}/save`, ['manage'], {
      summary: `Write the file of ${a} ${noun}, and serve it`,
      description:
        'With `TAILRACE_EDIT_ENDPOINTS=1` or in `tailrace dev`. `version` is that of the text that ' +
        `was read before; null for a new ${noun}.`,
      body: jsonBody(NEW_FILE_VERSION, { example: { ...example, version: null } }),
      answer: { 200: json('Saved and served.', SAVED_ALERT) },
      errors: ['invalid_definition', 'conflict', 'overloaded'],
      call: (parts, caller, request) => saveDefinitionFile(kind, parts, { request, caller }),
    }),
  ];
}

const ALERT_ROUTES = createFileRoutes(EDITED_ALERTS, {
  example: {
    name: 'checkout.errors',
    definition: `name: checkout.errors
description: Checkout fails.
endpoint: failing.paths
every: 60
when: { column: failures, above: 10 }
text: "{{ failures }} failures"
to: [ops]
`,
  },
});

const DASHBOARD_ROUTES = createFileRoutes(EDITED_DASHBOARDS, {
  example: {
    name: 'checkout',
    definition: `name: checkout
title: Checkout
rows:
  - panels: [{ endpoint: failing.paths }]
`,
  },
  checked: json(
    'Without faults `errors` is empty; `dashboard` is null if it cannot be read.',
    DASHBOARD_CHECK,
  ),
  show: (item, parts, caller) => ({
    dashboard: item === undefined ? null : toDashboardView(parts, caller, item),
  }),
});

const SEARCH_ROUTES = createFileRoutes(EDITED_SEARCHES, {
  example: {
    name: 'checkout',
    definition: `name: checkout
title: Checkout fails
search: { q: "level:error request.path:/checkout*", range: 24h }
`,
  },
});

/** Serves the files of the other definitions to the console. */
export const fileRoutes = defineGroup({
  tag: 'console',
  checkCaller: requireAuthor,
  bodyBytesMax: 512 * 1024, // a text of 64 KiB in JSON
  routes: [...ALERT_ROUTES, ...DASHBOARD_ROUTES, ...SEARCH_ROUTES],
});
