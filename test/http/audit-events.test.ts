import { expect, test } from 'vitest';
import { trusted } from '../../src/sql/sql.ts';
import { addEndpoint } from '../../trial/endpoint.ts';
import { copyEndpoints } from '../support/endpoints.ts';
import { expectError, get, post, QUERY_PATH } from '../support/http.ts';
import { ownService } from '../support/service.ts';

const AUDIT = 'tailrace.audit';

const endpoints = await copyEndpoints();
await addEndpoint(endpoints, {
  name: 'test.audit',
  id: 'a0000000-0000-4000-8000-000000000031',
  sql: "SELECT count() AS n FROM tailrace_audit WHERE project = @project OR @project = 'all'",
  caching: 'disabled',
});
const service = await ownService({ env: { TAILRACE_ENDPOINTS_DIR: endpoints } });
const { url, core, clock, newKey } = service;

/** The stored events about a key, oldest first. */
const eventsOf = async (id: string) =>
  await core.engine.inspect(
    trusted(`SELECT * FROM tailrace_audit WHERE key = '${id}' ORDER BY timestamp, action`),
  );

const created = await post<{ id: string }>(url, '/api/keys', { name: 'front end', scopes: ['query'] });
const { id } = created.body;

test('the events of the audit trail have what an entry has, and are found by a search', async () => {
  await expect.poll(() => eventsOf(id)).toHaveLength(1);
  expect(await eventsOf(id)).toMatchObject([
    {
      ...{ project: '', action: 'created', actor: 'private', actor_name: null, key: id },
      ...{ key_name: 'front end', address: '127.0.0.1', detail: 'scope query', count: 1 },
      event_message: `created ${id} by private (scope query)`,
    },
  ]);
  clock.now += 1000; // a search ends before now
  const found = await get(url, `/api/search?source=${AUDIT}&q=key:${id}`);
  expect(found.body.result).toMatchObject([{ source: AUDIT }]);
});

test.each([
  ['with the scope query only', { scopes: ['query'] }],
  ['that pins a project', { scopes: ['query', 'manage'], pins: { project: 'aurora' } }],
  ['with a list of sources', { scopes: ['query', 'manage'], sources: [AUDIT] }],
  ['with a list of endpoints', { scopes: ['query', 'manage'], endpoints: ['logs.all'] }],
] as const)('the events of the audit trail are not read by a key %s', async (_, grant) => {
  const limited = { 'x-api-key': await newKey(grant) };
  for (const path of [`/api/search?source=${AUDIT}`, `/api/search?source=logs,${AUDIT}`])
    expectError(await get(url, path, limited), 'forbidden');
  for (const path of ['/api/search/sources', '/api/sources', '/api/search'])
    expect((await get(url, path, limited)).text).not.toContain(`"${AUDIT}"`);
});

test('the events of the audit trail are rejected to a key with other sources as one that does not exist', async () => {
  const limited = { 'x-api-key': await newKey({ sources: ['logs'] }) };
  const [there, missing] = await Promise.all(
    [AUDIT, 'nothing'].map((name) => get(url, `/api/search?source=${name}`, limited)),
  );
  expect(there?.body.error.message).toBe(missing?.body.error.message);
});

test('the events of the audit trail cannot be sent', async () => {
  const answer = await post(url, `/api/logs?source_name=${AUDIT}`, { message: 'x' });
  expectError(answer, 'invalid_request', 'written by Tailrace');
});

test('the events of the audit trail cannot be deleted', async () => {
  await expect.poll(() => eventsOf(id)).toHaveLength(1);
  for (const extra of [{}, { dry_run: true }]) {
    const named = await post(url, '/api/deletions', { project: '', source: AUDIT, ...extra });
    expectError(named, 'invalid_request', 'tailrace.audit is protected');
  }
  const all = await post(url, '/api/deletions', { project: '' });
  expect(all.status, all.text).toBe(200);
  expect(all.body).toMatchObject({ rows: 0, left_out: [{ source: AUDIT, rows: expect.any(Number) }] });
  expect(await eventsOf(id)).toHaveLength(1);
});

test('the events of the audit trail are read by an endpoint of the operator, and by no key that pins a project', async () => {
  const read = async (project: string, pins = {}) => {
    const key = await newKey({ endpoints: ['test.audit'], pins });
    return await get(url, `${QUERY_PATH}/test.audit?project=${project}`, { 'x-api-key': key });
  };
  const count = async (...of: Parameters<typeof read>) => Number((await read(...of)).body.result[0]?.['n']);
  await expect.poll(() => eventsOf(id)).toHaveLength(1);
  expect(await count('all')).toBeGreaterThan(0);
  expect(await count('aurora', { project: 'aurora' })).toBe(0);
  expectError(await read('all', { project: 'aurora' }), 'forbidden');
});
