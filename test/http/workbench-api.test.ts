import { afterAll, describe, expect, test } from 'vitest';
import { copyEndpoints } from '../support/endpoints.ts';
import { expectError, get, request } from '../support/http.ts';
import { PRIVATE_KEY, startTestService, storeEvents } from '../support/service.ts';

const endpoints = await copyEndpoints();
const NOW_MS = Date.UTC(2026, 10, 20, 12);
const service = await startTestService({
  env: { TAILRACE_ENDPOINTS_DIR: endpoints.path, TAILRACE_EDIT_ENDPOINTS: '1' },
  now: NOW_MS,
});
afterAll(async () => {
  await service.close();
  await endpoints.remove();
});
const { url, store } = service;

await storeEvents(
  store,
  'cloudflare.logs.prod',
  Array.from({ length: 30 }, (_, i) => ({
    id: `e${String(i).padStart(2, '0')}`,
    timestamp: new Date(NOW_MS - i * 60_000).toISOString(),
    project: i % 3 === 0 ? 'other' : 'aurora',
    event_message: `it's "line" ${i}`,
    metadata: { request: { path: '/rest/v1' }, n: i },
  })),
  NOW_MS,
);

const YAML = `name: test.draft
description: A draft.
max_rows: 5
caching: disabled
parameters:
  project: { type: string, required: true, description: Project. }
`;
const SQL = 'SELECT id, timestamp, metadata FROM edge_logs WHERE project = @project ORDER BY id\n';

interface Fault {
  readonly parameter: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

async function post(path: string, body: object, key = PRIVATE_KEY) {
  const answer = await request(url, `/api/workbench/${path}`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const faults = (answer.body.error?.errors ?? []) as unknown as readonly Fault[];
  return { ...answer, json: answer.body as unknown as Record<string, unknown>, faults };
}
const run = (sql: string, values: object = { project: 'aurora' }, definition = YAML) =>
  post('run', { definition, sql, values });
const PLAIN = YAML.slice(0, YAML.indexOf('parameters:'));

describe('a draft that is run', () => {
  test('answers rows, the columns of the query, and what was read', async () => {
    const { status, json } = await run(SQL);
    expect(status, JSON.stringify(json)).toBe(200);
    expect(json['columns']).toEqual([
      { name: 'id', type: 'string' },
      { name: 'timestamp', type: 'string' },
      { name: 'metadata', type: 'string' },
    ]);
    expect(json['result']).toHaveLength(5);
    expect((json['result'] as { id: string }[]).map(({ id }) => id)).toEqual(['e01', 'e02', 'e04', 'e05', 'e07']);
    expect(json).toMatchObject({ truncated: true, rows_read: 60, engine_ms: expect.any(Number) });
    expect(json['bytes_read']).toBeGreaterThan(1000);
    expect(json['parameters']).toMatchObject([{ name: 'project', type: 'string', control: 'text' }]);
  });
});
