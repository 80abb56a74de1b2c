import { describe, expect, test } from 'vitest';
import type { Overview } from '../../src/management/admin-view.ts';
import type { EndpointView, Me, Projects } from '../../src/management/view.ts';
import { EDGE, expectError, get, post, read, TO_EDGE } from '../support/http.ts';
import { newProject, PUBLIC_KEY, shareService } from '../support/service.ts';

const service = await shareService();
const { url, clock, newKey } = service;

const overview = (key?: string) => read<Overview>(url, '/api/overview', key);
const send = (project: string) =>
  post(url, TO_EDGE, [{ project, timestamp: new Date(clock.now - 90_000).toISOString() }]);

test('the overview is for keys with manage, each within its lists', async () => {
  expectError(await get(url, '/api/overview', { 'x-api-key': await newKey({}) }), 'forbidden');
  const key = await newKey({ scopes: ['manage'], endpoints: ['logs.all'], sources: [EDGE] });
  const seen = await overview(key);
  expect(seen.endpoints.map((one) => one.name)).toEqual(['logs.all']);
  expect(seen.sources.map((one) => one.name)).toEqual([EDGE]);
});

describe('the definitions', () => {
  test('are told to keys that may read the endpoint, the SQL to keys with manage', async () => {
    const key = await newKey({ endpoints: ['logs.all'], pins: { project: 'p1' } });
    const { result } = await read<{ result: EndpointView[] }>(url, '/api/endpoints', key);
    expect(result).toMatchObject([{ name: 'logs.all', caching_seconds: null, sql: null }]);
    expect(result[0]?.parameters.map((one) => one.pinned)).toEqual(['p1', null, null, null]);
    const all = await read<{ result: EndpointView[] }>(url, '/api/endpoints');
    expect(all.result.map((one) => one.sql?.includes('SELECT'))).toEqual([true, true, true, true]);
  });

  test('of the key itself are returned to any key', async () => {
    expect(await read<Me>(url, '/api/me', PUBLIC_KEY)).toMatchObject({ id: 'public', scopes: ['ingest'] });
    const key = await newKey({ pins: { project: 'p1' }, endpoints: ['logs.all'] });
    const limits = { endpoints: ['logs.all'], sources: null, pins: { project: 'p1' } };
    expect(await read<Me>(url, '/api/me', key)).toMatchObject({ ...limits, scopes: ['query'], token: false });
    expectError(await get(url, '/api/me', { 'x-api-key': '' }), 'unauthorized');
  });
});

test('the projects are those that have events, and for a pinned key its own alone', async () => {
  const projects = [newProject(), newProject()];
  for (const project of projects) await send(project);
  await read<Projects>(url, '/api/projects');
  clock.now += 31_000;
  await read<Projects>(url, '/api/projects');
  const shown = async () => (await read<Projects>(url, '/api/projects')).result;
  await expect.poll(shown).toEqual(expect.arrayContaining(projects));
  const pinned = await newKey({ pins: { project: 'mine' } });
  expect(await read(url, '/api/projects', pinned)).toEqual({ result: ['mine'], complete: true });
});
