import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { HistoryVersionView, HistoryView } from '../../src/management/history-view.ts';
import { addEndpoint } from '../../trial/endpoint.ts';
import { expectError, get, request } from '../support/http.ts';
import { PRIVATE_KEY, startTestService, temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
const endpointsDir = join(folder.path, 'endpoints');
await addEndpoint(endpointsDir, {
  name: 'test.stored',
  id: 'a0000000-0000-4000-8000-000000000009',
  sql: 'SELECT count() AS n FROM edge_logs WHERE project = @project',
  caching: 900,
});
await mkdir(join(folder.path, 'dashboards'));
const service = await startTestService({
  env: {
    TAILRACE_ENDPOINTS_DIR: endpointsDir,
    TAILRACE_DASHBOARDS_DIR: join(folder.path, 'dashboards'),
    TAILRACE_EDIT_ENDPOINTS: '1',
  },
  now: Date.UTC(2026, 10, 20, 12),
});
afterAll(async () => {
  await service.close();
  await folder.remove();
});
const historyFile = join(
  service.config.dataDir,
  'workbench/endpoints-a0000000-0000-4000-8000-000000000009.json',
);
const fileOf = (name: string) => join(endpointsDir, 'test.stored', name);

async function read<T>(path: string): Promise<T> {
  const { status, body } = await get(service.url, `/api/workbench/${path}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as unknown as T;
}
const list = async (of = 'endpoints/test.stored') => (await read<HistoryView>(`history/${of}`)).result;
const textsOf = async (id: string, of = 'endpoints/test.stored') =>
  await read<HistoryVersionView>(`history/${of}/${id}`);

async function post(path: string, body: object): Promise<void> {
  const answer = await request(service.url, `/api/workbench/${path}`, {
    method: 'POST',
    headers: { 'x-api-key': PRIVATE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status, answer.text).toBe(200);
}
async function save(comment: string): Promise<string> {
  const files = await read<{ definition: string; version: string }>('endpoints/test.stored');
  const sql = `SELECT count() AS n FROM edge_logs WHERE project = @project -- ${comment}\n`;
  await post('save', { name: 'test.stored', definition: files.definition, version: files.version, sql });
  return sql;
}

test('a save is kept with its texts, its author and its time, and so is what it replaced', async () => {
  expect(await list()).toEqual([]);
  const original = await readFile(fileOf('query.sql'), 'utf8');
  service.clock.now += 60_000;
  const sql = await save('one');
  const [first, before, ...others] = await list();
  expect(others).toEqual([]);
  expect(first).toMatchObject({ by: 'private', at: '2026-11-20T12:01:00.000Z' });
  expect(before?.by).toBe('');
  const { version } = await read<{ version: string }>('endpoints/test.stored');
  expect(first?.version).toBe(version);
  expect(await textsOf(first?.id ?? '')).toMatchObject({ ...first, sql });
  expect((await textsOf(before?.id ?? '')).sql).toBe(original);

  await save('two');
  expect((await list()).map(({ by }) => by)).toEqual(['private', 'private', '']);
});

test('what was written into the files elsewhere is kept once a save replaces it', async () => {
  await writeFile(
    fileOf('query.sql'),
    'SELECT count() AS n FROM edge_logs WHERE project = @project -- by hand\n',
  );
  await save('three');
  const [, byHand] = await list();
  expect(byHand?.by).toBe('');
  expect((await textsOf(byHand?.id ?? '')).sql).toContain('-- by hand');
});

test('a rejected save is not kept', async () => {
  const before = await list();
  const { status } = await request(service.url, '/api/workbench/save', {
    method: 'POST',
    headers: { 'x-api-key': PRIVATE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'test.stored', definition: 'x', sql: 'y', version: null }),
  });
  expect(status).toBe(400);
  expect(await list()).toEqual(before);
});

test('a dashboard has a history, too', async () => {
  const definition = 'name: made.here\ntitle: One\nrows:\n  - panels: [{ endpoint: test.stored }]\n';
  await post('dashboards/save', { name: 'made.here', definition, version: null });
  const [version] = await list('dashboards/made.here');
  const kept = await textsOf(version?.id ?? '', 'dashboards/made.here');
  expect(kept).toMatchObject({ by: 'private', sql: null });
  expect(kept.definition).toContain('title: One');
});

test('after a year a version is forgotten', async () => {
  service.clock.now += 366 * 24 * 60 * 60 * 1000;
  expect(await list()).toEqual([]);
  await save('new year');
  expect((await list()).map(({ by }) => by)).toEqual(['private', '']);
});

test('of a missing definition, kind or version it is not found', async () => {
  const at = (path: string) => get(service.url, `/api/workbench/history/${path}`);
  expectError(await at('endpoints/nothing.here'), 'endpoint_not_found');
  expectError(await at('alerts/nothing.here'), 'not_found');
  expectError(await at('others/test.stored'), 'not_found');
  expectError(await at('endpoints/test.stored/nothing'), 'not_found');
});

test('a damaged file is replaced by the next save, and a history that cannot be written does not keep from saving', async () => {
  await writeFile(historyFile, '{"versions": [{}]}');
  expect(await list()).toEqual([]);
  await save('after damage');
  expect(await list()).toHaveLength(2);
  await rm(join(service.config.dataDir, 'workbench'), { recursive: true });
  await writeFile(join(service.config.dataDir, 'workbench'), 'a file');
  const sql = await save('without history');
  expect(await readFile(fileOf('query.sql'), 'utf8')).toBe(sql);
});
