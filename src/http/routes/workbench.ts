import { Type } from 'typebox';
import { ENDPOINT_NAME } from '../../definitions/endpoint.ts';
import { closed, shortText } from '../../lib/schema.ts';
import { toParameterViews } from '../../management/definitions.ts';
import {
  DRAFT_CHECK,
  type DraftCheck,
  ENDPOINT_FILES,
  RUN_REPORT,
  type RunReport,
  SAVED_ENDPOINT,
  SAVED_TEST,
  WORKBENCH,
} from '../../management/workbench-view.ts';
import { checkDraft } from '../../workbench/check.ts';
import { toDraftError } from '../../workbench/draft.ts';
import { runDraft } from '../../workbench/run.ts';
import { addTest } from '../../workbench/tests.ts';
import { describeWorkbench, readFiles, requireAuthor } from '../../workbench/workbench.ts';
import { list, object, plain } from '../openapi/schema.ts';
import { getCaller } from '../plugins/auth.ts';
import { defineRoute, json, jsonBody, type RouteGroup } from '../route.ts';
import { describeRun } from './query.ts';

const TEXT = Type.String();
const DRAFT = { definition: TEXT, sql: TEXT };
const VALUES = Type.Record(
  Type.String({ maxLength: 100 }),
  Type.Union([TEXT, Type.Array(TEXT)], { expected: 'a string, or a list of strings' }),
  { maxProperties: 1_000, expected: 'an object of texts by parameter name' },
);
const CALL = closed({ ...DRAFT, values: Type.Optional(VALUES) });

const SAVE = closed({
  name: ENDPOINT_NAME,
  ...DRAFT,
  version: Type.Union([TEXT, Type.Null()], { expected: 'the version that was read, or null' }),
  test: Type.Optional(TEXT),
});

const TEST = closed({
  name: ENDPOINT_NAME,
  title: shortText(200, { expected: 'a string of one line, of at most 200 characters' }),
  now: Type.String({ expected: 'an ISO 8601 timestamp, such as 2026-11-20T12:00:00Z' }),
  values: VALUES,
  rows: Type.String({ expected: 'the rows as a string of JSON' }),
});

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

const RUN_ERRORS = [
  'invalid_parameter',
  'invalid_definition',
  'query_failed',
  'rate_limited',
  'overloaded',
  'query_timeout',
] as const;

// Two texts of 64 KiB and values, in JSON.
const BODY_BYTES_MAX = 1024 * 1024;

/** Serves the workbench of the console: SQL over the tables of all sources, for keys that may read everything. */
export const workbenchRoutes: RouteGroup = {
  bodyBytesMax: BODY_BYTES_MAX,
  routes: [
    defineRoute('GET /api/workbench', ['manage'], {
      checkCaller: requireAuthor,
      summary: 'Completions for an editor of endpoints, and whether it may save',
      operation: { id: 'get_workbench', tag: 'console' },
      answer: { 200: json('The present state.', WORKBENCH) },
      handle: (parts) => describeWorkbench(parts),
    }),
    defineRoute('GET /api/workbench/endpoints/:name', ['manage'], {
      checkCaller: requireAuthor,
      summary: 'The two files of an endpoint as texts',
      operation: { id: 'get_endpoint_files', tag: 'console' },
      answer: { 200: json('The present state.', ENDPOINT_FILES) },
      errors: ['endpoint_not_found', 'conflict'],
      handle: (parts, request) => readFiles(parts, request.params.name),
    }),
    defineRoute('POST /api/workbench/run', ['manage'], {
      checkCaller: requireAuthor,
      summary: 'Run a draft of an endpoint, within its limits and uncached',
      operation: { id: 'run_draft', tag: 'console' },
      body: jsonBody(CALL, { example: CALL_EXAMPLE }),
      answer: {
        200: json('Rows as the endpoint would return them.', {
          allOf: [object({ result: list({ type: 'object' }) }), plain(RUN_REPORT)],
        }),
      },
      errors: [...RUN_ERRORS],
      async handle(parts, request, reply) {
        const { values = {}, ...texts } = request.body;
        const { rows, count, report } = await runDraft(
          parts,
          { ...texts, values },
          describeRun(request, reply),
        );
        request.detail = { rows: count, rows_read: report.rows_read, engine_ms: report.engine_ms };
        return reply.type('application/json; charset=utf-8').send(frame(rows, report));
      },
    }),
    defineRoute('POST /api/workbench/check', ['manage'], {
      checkCaller: requireAuthor,
      summary: 'The faults of a draft, its parameters and its columns',
      operation: { id: 'check_draft', tag: 'console' },
      body: jsonBody(closed(DRAFT), { example: EXAMPLE }),
      answer: { 200: json('Without faults `errors` is empty.', DRAFT_CHECK) },
      errors: ['overloaded', 'query_timeout'],
      async handle(parts, request, reply): Promise<DraftCheck> {
        const checked = await checkDraft(parts, request.body, describeRun(request, reply));
        const { endpoint } = checked.draft;
        return {
          parameters: endpoint === undefined ? [] : toParameterViews(endpoint, {}),
          columns: [...checked.columns],
          errors: checked.faults.map(toDraftError),
        };
      },
    }),
    defineRoute('POST /api/workbench/save', ['manage'], {
      checkCaller: requireAuthor,
      summary: 'Write the two files of an endpoint, serve them, and run its tests',
      operation: {
        id: 'save_endpoint',
        tag: 'console',
        description:
          'With `TAILRACE_EDIT_ENDPOINTS=1` or in `tailrace dev`. A failed test does not undo the ' +
          'save. `version` is that of the texts that were read before; null for a new endpoint, which ' +
          'may bring `test`, a file of tests.',
      },
      body: jsonBody(SAVE, { example: { name: 'errors.by-path', ...EXAMPLE, version: null } }),
      answer: { 200: json('Saved and served.', SAVED_ENDPOINT) },
      errors: ['invalid_definition', 'conflict', 'query_failed', 'overloaded', 'query_timeout'],
      handle: ({ save }, request, reply) =>
        save(request.body, getCaller(request), describeRun(request, reply)),
    }),
    defineRoute('POST /api/workbench/tests', ['manage'], {
      checkCaller: requireAuthor,
      summary: 'Add the result of a run to the tests of an endpoint, and run them',
      operation: {
        id: 'add_test',
        tag: 'console',
        description:
          'Writes a case into `tests/results.yaml`, where endpoints may be saved: `now`, `values` and ' +
          'at most 20 `rows`, a text of JSON. A failed test does not undo it.',
      },
      body: jsonBody(TEST, {
        example: {
          name: 'errors.by-path',
          title: 'counts failed requests by path',
          now: '2026-11-20T12:00:00Z',
          values: { project: 'aurora' },
          rows: '[{"path":"/rest/v1/orders","n":1}]',
        },
      }),
      answer: { 200: json('Added.', SAVED_TEST) },
      errors: ['invalid_request', 'endpoint_not_found', 'conflict', 'overloaded'],
      handle: (parts, request, reply) =>
        addTest(parts, request.body, { caller: getCaller(request), execution: describeRun(request, reply) }),
    }),
  ],
};

/** Wraps the engine's rows in the object of the response. */
function frame(rows: Buffer, report: RunReport): Buffer {
  return Buffer.concat([
    Buffer.from('{"result":['),
    rows,
    Buffer.from(`],${JSON.stringify(report).slice(1)}`),
  ]);
}
