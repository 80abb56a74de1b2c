import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createEndpointTests } from '../../src/cli/testing/endpoint-tests.ts';
import { addEndpoint } from '../../trial/endpoint.ts';
import { expectError, request } from '../support/http.ts';
import { PRIVATE_KEY, startTestService, storeEvents, temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
const endpointsDir = join(folder.path, 'endpoints');
await addEndpoint(endpointsDir, {
  name: 'test.stored',
  id: 'a0000000-0000-4000-8000-000000000009',
  sql: 'SELECT count() AS n FROM edge_logs WHERE project = @project',
  caching: 900,
});
const NOW_MS = Date.UTC(2026, 10, 20, 12);
const service = await startTestService({
  env: { TAILRACE_ENDPOINTS_DIR: endpointsDir, TAILRACE_EDIT_ENDPOINTS: '1' },
  now: NOW_MS,
  runTests: (name, signal) => createEndpointTests(service.config)(name, signal),
});
afterAll(async () => {
  await service.close();
  await folder.remove();
});
const event = { id: 'e1', timestamp: '2026-11-20T11:59:00Z', project: 'aurora', event_message: 'x' };
await storeEvents(service.core, 'cloudflare.logs.prod', [event], NOW_MS);

const tests = join(endpointsDir, 'test.stored/tests');
const file = join(tests, 'results.yaml');
beforeEach(() => rm(tests, { recursive: true, force: true }));

interface Outcome {
  readonly file: string;
  readonly tests: readonly { readonly name: string; readonly passed: boolean; readonly message: string }[];
}

async function post(path: string, body: object) {
  return await request(service.url, `/api/workbench/${path}`, {
    method: 'POST',
    headers: { 'x-api-key': PRIVATE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}
const GOOD = {
  name: 'test.stored',
  title: 'counts',
  now: '2026-11-20T12:00:00.000Z',
  values: { project: 'aurora' },
  rows: '[{"n":1}]',
};
const add = (change: Partial<typeof GOOD> = {}) => post('tests', { ...GOOD, ...change });
const outcomeOf = ({ body }: { body: object }) => body as unknown as Outcome;

test('a result becomes a case, which passes once its file has the events', async () => {
  const definition = await readFile(join(endpointsDir, 'test.stored/endpoint.yaml'), 'utf8');
  const sql = await readFile(join(endpointsDir, 'test.stored/query.sql'), 'utf8');
  const run = (await post('run', { definition, sql, values: GOOD.values })).body as unknown as {
    now: string;
    result: object[];
  };
  expect(run).toMatchObject({ now: '2026-11-20T12:00:00.000Z', result: [{ n: 1 }] });
  const added = await add({ now: run.now, rows: JSON.stringify(run.result) });
  expect(added.status, added.text).toBe(200);
  expect(outcomeOf(added)).toMatchObject({
    file: 'tests/results.yaml',
    tests: [{ name: 'counts', passed: false }],
  });
  const text = await readFile(file, 'utf8');
  await writeFile(
    file,
    text.replace('events: {}', `events: { cloudflare.logs.prod: [${JSON.stringify(event)}] }`),
  );
  const again = await add({ title: 'counts of others', values: { project: 'other' }, rows: '[{"n":0}]' });
  expect(outcomeOf(again).tests.map(({ name, passed }) => [name, passed])).toEqual([
    ['counts', true],
    ['counts of others', true],
  ]);
  expect(await readFile(file, 'utf8')).toContain('# Results that were kept in the workbench.');
});

test('an empty result, and integers beyond 2^53, are written as they are', async () => {
  await add({ rows: '[]' });
  expect(await readFile(file, 'utf8')).toContain('rows: []');
  await add({ rows: '[{"n":9007199254740993}]' });
  expect(await readFile(file, 'utf8')).toContain('9007199254740993');
});

describe('nothing is written', () => {
  test.each([
    [
      '21 rows',
      { rows: JSON.stringify(Array(21).fill({ n: 1 })) },
      'invalid_request',
      /21 rows, a test at most 20/,
    ],
    ['64 KiB', { rows: `[{"n":"${'x'.repeat(70_000)}"}]` }, 'invalid_request', /64 KiB/],
    ['no list', { rows: '{"n":1}' }, 'invalid_request', /not a JSON list/],
    ['no JSON', { rows: 'x' }, 'invalid_request', /not a JSON list/],
    [
      'deep rows',
      { rows: `[{"n":${'['.repeat(1_000)}${']'.repeat(1_000)}}]` },
      'invalid_request',
      /64 levels/,
    ],
    ['another time', { now: 'yesterday' }, 'invalid_request', /ISO 8601/],
    ['an empty title', { title: '' }, 'invalid_request', /of one line/],
    ['a title of two lines', { title: 'a\nb' }, 'invalid_request', /of one line/],
    ['other columns', { rows: '[{"m":1}]' }, 'conflict', /other columns than the saved endpoint: n/],
    ['another parameter', { values: { project: 'x', other: 'y' } }, 'conflict', /has no parameter .*other/],
    ['another endpoint', { name: 'not.here' }, 'endpoint_not_found', /not.here/],
  ] as const)('for %s', async (_, change, code, message) => {
    const answer = await add(change as Partial<typeof GOOD>);
    expectError(answer, code);
    expect(JSON.stringify(answer.body)).toMatch(message);
    await expect(readFile(file)).rejects.toThrow('ENOENT');
  });

  test.each(['cases: 3\n', '- [', 'now: 2026-01-01T00:00:00Z\n'])(
    'into a file that is broken: %s',
    async (text) => {
      await mkdir(tests);
      await writeFile(file, text);
      expectError(await add(), 'conflict');
      expect(await readFile(file, 'utf8')).toBe(text);
    },
  );

  test('through a link', async () => {
    await mkdir(tests);
    await writeFile(join(endpointsDir, 'elsewhere'), 'x');
    await symlink(join(endpointsDir, 'elsewhere'), file);
    expectError(await add(), 'forbidden');
    expect(await readFile(join(endpointsDir, 'elsewhere'), 'utf8')).toBe('x');
  });
});
