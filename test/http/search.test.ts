import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serviceValues } from '../../src/query/bucket-range.ts';
import { parseParameters } from '../../src/query/parameters.ts';
import { createStatement } from '../../src/query/statement.ts';
import { addEndpoint } from '../../trial/endpoint.ts';
import { copyEndpoints } from '../support/endpoints.ts';
import { startTestService, storeEvents } from '../support/service.ts';

const now = Date.parse('2026-11-20T07:00:00.000Z');
const PROJECTS = ['aurora', 'basalt', 'cedar'];
const PATTERNS = [
  '(?i)(AURORA|BASALT)',
  '(?i:AURORA|BASALT)',
  '(?i)//(A|B)[a-z]+\\.EXAMPLE',
  '(aurora|basalt)',
];

const endpoints = await copyEndpoints();
await addEndpoint(endpoints.path, {
  name: 'test.literal',
  id: 'a0000000-0000-4000-8000-000000000001',
  sql: "SELECT count() AS n FROM edge_logs WHERE match(address, '(?i)(AURORA|BASALT)') AND @project != ''",
  caching: 'disabled',
});
await addEndpoint(endpoints.path, {
  name: 'test.joined',
  id: 'a0000000-0000-4000-8000-000000000002',
  sql: "SELECT count() AS n FROM edge_logs WHERE match(address, concat('(?i)', '(', @project, '|BASALT)'))",
  caching: 'disabled',
});
await addSandboxed();
const service = await startTestService({ env: { TAILRACE_ENDPOINTS_DIR: endpoints.path }, now });
afterAll(async () => {
  await service.close();
  await endpoints.remove();
});

/** Views over the requests that a pattern finds, and over all. */
async function addSandboxed(): Promise<void> {
  const folder = join(endpoints.path, 'test.sandboxed');
  await mkdir(folder);
  await writeFile(
    join(folder, 'endpoint.yaml'),
    `id: a0000000-0000-4000-8000-000000000003
name: test.sandboxed
description: Of a test.
max_rows: 10
caching: disabled
query_sandboxing: true
parameters:
  pattern: { type: regex, required: true, description: Of a test. }
columns:
  n: { type: integer, description: Of a test. }
`,
  );
  await writeFile(
    join(folder, 'query.sql'),
    `WITH
  found AS (SELECT id, address FROM edge_logs WHERE match(address, @pattern)),
  requests AS (SELECT id, address FROM edge_logs)
SELECT count() AS n FROM found
`,
  );
}

let stored = 0;
async function storeRequests(count: number, atMs: number): Promise<void> {
  const events = Array.from({ length: count }, () => {
    const project = PROJECTS[stored % PROJECTS.length] ?? '';
    const url = `https://${project}.example.co/rest/v1/${stored}`;
    return {
      id: `e${stored++}`,
      timestamp: atMs * 1000,
      project,
      metadata: { request: { path: '/rest', url } },
    };
  });
  await storeEvents(service.core, 'cloudflare.logs.prod', events, service.clock.now);
}

const FRESH = { 'cache-control': 'no-cache' };

async function countRest(
  project: string,
  headers: Readonly<Record<string, string>> = FRESH,
): Promise<number> {
  const { body } = await service.call('usage.api-counts', { project, interval: 'hourly' }, headers);
  return body.result.reduce((sum, row) => sum + Number(row['total_rest_requests']), 0);
}

async function countRows(endpoint: string, parameters: Readonly<Record<string, string>>): Promise<unknown> {
  const { body } = await service.call(endpoint, parameters);
  return body.error ?? body.result[0]?.['n'];
}

// Merges build the index, so an answer that it makes wrong changes then.
describe.each(['as they came', 'merged'])('requests %s', (state) => {
  beforeAll(async () => {
    if (state === 'merged') await service.core.engine.command('OPTIMIZE TABLE edge_logs FINAL');
    else for (const part of [1, 2]) await storeRequests(300 * part, now - part * 1000);
  });
  const found = 600;

  test.each(PATTERNS)('are counted by usage.api-counts for %s', async (pattern) => {
    expect(await countRest(pattern)).toBe(found);
  });

  test('are counted by an endpoint with such a pattern in its SQL', async () => {
    expect(await countRows('test.literal', { project: 'x' })).toBe(found);
    expect(await countRows('test.joined', { project: 'AURORA' })).toBe(found);
  });

  test.each(PATTERNS)('are counted by a SELECT of a caller for %s', async (pattern) => {
    expect(await countRows('test.sandboxed', { pattern })).toBe(found);
    for (const sql of [
      'SELECT count() AS n FROM found',
      `SELECT count() AS n FROM requests WHERE match(address, '${pattern.replaceAll('\\', '\\\\')}')`,
      'SELECT count() AS n FROM requests WHERE match(address, @pattern)',
      `SELECT countIf(address REGEXP '${pattern.replaceAll('\\', '\\\\')}') AS n FROM found`,
    ])
      expect([sql, await countRows('test.sandboxed', { pattern, sql })]).toEqual([sql, found]);
  });
});

test.each(PATTERNS)('a refresh of some buckets counts as a query of all does, for %s', async (pattern) => {
  const interval = 'minutely';
  const ask = (headers = {}) => service.call('usage.api-counts', { project: pattern, interval }, headers);
  await ask();
  service.clock.now += 1_000_000;
  await storeRequests(30, service.clock.now - 1000);
  await service.core.engine.command('OPTIMIZE TABLE edge_logs FINAL');
  const refreshed = await ask();
  expect(refreshed.body.result.at(-1)).toMatchObject({ total_rest_requests: 20 });
  expect((await ask(FRESH)).body.result).toEqual(refreshed.body.result);
});

test.each([
  ['aurora', true],
  ['^https://(aurora|basalt)\\.example', true],
  ['(?i)(AURORA|BASALT)', false],
])('usage.api-counts looks %s up in the index: %s', async (project, isUsed) => {
  const endpoint = service.core.registry.getEndpoint('usage.api-counts');
  const values = parseParameters(endpoint, { project, interval: 'daily' }, 1024);
  const bound = { ...values, ...serviceValues(endpoint, values, { instantMs: service.clock.now }) };
  const sql = `EXPLAIN indexes = 1 ${createStatement(endpoint).sql}`;
  const { bytes } = await service.core.engine.query(sql, bound, { format: 'TSVRaw' });
  expect(bytes.toString().includes('Name: address_substrings')).toBe(isUsed);
});
