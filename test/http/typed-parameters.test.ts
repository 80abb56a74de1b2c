import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { writeDefinitions } from '../query/sandbox/support.ts';
import { expectError, get, QUERY_PATH, request } from '../support/http.ts';
import { PRIVATE_KEY, startTestService, storeEvents } from '../support/service.ts';

const YAML = `id: 7dea32a0-fb99-4b83-9c42-c900fca9aeb6
name: typed.on
description: A test.
max_rows: 50
caching: 900
query_sandboxing: true
parameters:
  project: { type: string, required: true, max_length: 20, description: A project. }
  min_status: { type: integer, min: 100, max: 599, examples: [500], description: The least status. }
  statuses: { type: list, of: integer, max_items: 3, description: Any of them. }
  day: { type: date, description: A day. }
  newest: { type: boolean, default: true, description: Newest first. }
columns:
  status: { type: integer, description: A status. }
`;
const SQL = `WITH app AS (
  SELECT status, timestamp FROM app_logs
  WHERE project = @project
    AND (@min_status IS NULL OR status >= @min_status)
    AND (empty(@statuses) OR status IN @statuses)
    AND (@day IS NULL OR toDate(timestamp, 'UTC') = @day)
)
SELECT status FROM app ORDER BY if(@newest, -1, 1) * toUnixTimestamp64Milli(timestamp)
`;

const definitions = await writeDefinitions();
const folder = join(definitions.path, 'endpoints/typed.on');
await mkdir(folder);
await writeFile(join(folder, 'endpoint.yaml'), YAML);
await writeFile(join(folder, 'query.sql'), SQL);
const service = await startTestService({ env: definitions.env });
const { store, clock, url, call, close } = service;
const day = (at: number) => new Date(at).toISOString().slice(0, 10);
await storeEvents(
  store,
  'app.logs',
  [200, 404, 500, 503].map((status, i) => ({
    timestamp: new Date(clock.now - i * 86_400_000).toISOString(),
    project: 'p',
    event_message: 'x',
    metadata: { status },
  })),
  clock.now,
);
afterAll(async () => {
  await close();
  await definitions.remove();
});

const HEADERS = { 'content-type': 'application/json' };
const post = (body: unknown) =>
  request(url, `${QUERY_PATH}/typed.on`, { method: 'POST', headers: HEADERS, body: JSON.stringify(body) });
const statusesOf = (answer: { body: unknown }) =>
  (answer.body as { result: { status: number }[] }).result.map(({ status }) => status);
const ask = async (query: string) => statusesOf(await get(url, `${QUERY_PATH}/typed.on?project=p${query}`));

describe('parameters that are values of their type in the SQL', () => {
  test.each([
    ['', [200, 404, 500, 503]],
    ['&min_status=500', [500, 503]],
    ['&statuses=404,503', [404, 503]],
    ['&statuses=404&statuses=503&newest=0', [503, 404]],
    [`&day=${day(clock.now - 86_400_000)}`, [404]],
  ])('select rows by %j', async (query, statuses) => {
    expect(await ask(query)).toEqual(statuses);
  });

  test('may be JSON values of a POST body, or texts', async () => {
    for (const body of [
      { project: 'p', min_status: 500, statuses: [503, 404], newest: false },
      { project: 'p', min_status: '500', statuses: ['503', '404'], newest: 'false' },
    ])
      expect(statusesOf(await post(body))).toEqual([503]);
  });

  test.each([
    [{ project: 5 }, 'the body\'s "project" must be a text in quotes'],
    [{ project: ['p'] }, 'the body\'s "project" must be a text in quotes'],
    [{ project: 'p', min_status: true }, 'the body\'s "min_status" must be a text in quotes, or a number'],
    [{ project: 'p', min_status: null }, 'the body\'s "min_status" must be a text in quotes, or a number'],
    [{ project: 'p', statuses: 5 }, 'the body\'s "statuses" must be a text in quotes, or a list of numbers'],
    [
      { project: 'p', statuses: [[5]] },
      'the body\'s "statuses" must be a text in quotes, or a list of numbers',
    ],
    [{ project: 'p', other: 5 }, 'the body\'s "other" must be a text in quotes'],
  ])('of another JSON type are refused: %j', async (body, message) => {
    const answer = await post(body);
    expectError(answer, 'invalid_request');
    expect(answer.body).toMatchObject({ error: { message } });
  });

  test('are refused out of their bounds, each by name', async () => {
    const answer = await get(
      url,
      `${QUERY_PATH}/typed.on?min_status=99&statuses=1,2,3,4&day=x&project=${'p'.repeat(21)}`,
    );
    expectError(answer, 'invalid_parameter');
    expect(answer.body.error.errors).toEqual([
      { parameter: 'project', message: 'must have at most 20 characters' },
      { parameter: 'min_status', message: 'must be from 100 to 599' },
      { parameter: 'statuses', message: 'must have at most 3 items' },
      { parameter: 'day', message: 'must be a date, such as 2026-11-20' },
    ]);
  });

  test('share a cache entry between the spellings of a value', async () => {
    const path = `${QUERY_PATH}/typed.on?project=p&min_status=`;
    await get(url, `${path}501`);
    const second = await get(url, `${path}%2B0501`);
    expect(second.headers.get('cache-status')).toContain('hit');
  });

  test('are values of their type in a caller’s own SELECT, too', async () => {
    const sql = 'SELECT status FROM app WHERE status > @min_status AND status IN @statuses';
    const own = await call('typed.on', { project: 'p', min_status: '404', statuses: '404,500', sql });
    expect(statusesOf(own)).toEqual([500]);
    const pattern = await call('typed.on', { project: 'p', sql: "SELECT match('x', @day) AS m FROM app" });
    expect(pattern.status).toBe(400);
  });

  test('are in /openapi.json as their JSON type', async () => {
    const { body } = await get(url, '/openapi.json', { 'x-api-key': PRIVATE_KEY });
    const { paths } = body as unknown as { paths: Record<string, { get: { parameters: unknown } }> };
    expect(paths[`${QUERY_PATH}/typed.on`]?.get.parameters).toMatchObject([
      { name: 'project', schema: { type: 'string', maxLength: 20, minLength: 1 }, example: 'aurora' },
      { name: 'min_status', schema: { type: 'integer', minimum: 100, maximum: 599 }, example: 500 },
      { name: 'statuses', schema: { type: 'array', items: { type: 'integer' }, maxItems: 3 } },
      { name: 'day', schema: { type: 'string', format: 'date' } },
      { name: 'newest', schema: { type: 'boolean', default: true }, example: true },
      { name: 'sql', schema: { type: 'string' } }, // the endpoint has sandboxing
      { name: 'format' },
    ]);
  });
});
