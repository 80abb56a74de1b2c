import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { NewKey } from '../../src/keys/management.ts';
import type { EndpointView, Overview, Projects, Self } from '../../src/management/view.ts';
import { expectError, get } from '../support/http.ts';
import { EDGE, post, TO_EDGE } from '../support/ingest.ts';
import { PUBLIC_KEY, startTestService } from '../support/service.ts';

const service = await startTestService();
afterAll(service.close);
const { url, clock, core } = service;
const { keyring } = service.service;

async function read<T>(path: string, key?: string): Promise<T> {
  const answer = await get(url, path, key === undefined ? {} : { 'x-api-key': key });
  expect(answer.status).toBe(200);
  return JSON.parse(answer.text) as T;
}
const overview = (key?: string) => read<Overview>('/api/overview', key);
const keyOf = async (fields: Partial<NewKey>) =>
  (await keyring.create({ name: 'k', scopes: ['query'], ...fields })).key;
const send = (project: string) =>
  post(url, TO_EDGE, [{ project, timestamp: new Date(clock.now - 90_000).toISOString() }]);

beforeEach(() => {
  clock.now += 2 * 3_600_000; // beyond the window of the test before
});

describe('the overview', () => {
  test('counts searches beside the endpoints, for keys that are not limited to endpoints', async () => {
    const before = (await overview()).search;
    for (const part of ['rows', 'histogram'])
      expect((await get(url, `/api/search?q=x&part=${part}`)).status).toBe(200);
    await get(url, '/api/search?q=(');
    const { search, endpoints } = await overview();
    expect((search?.requests ?? 0) - (before?.requests ?? 0)).toBe(3);
    expect(search).toMatchObject({ name: 'search', failures: 1, hit_ratio: null });
    expect(search?.failure_codes).toEqual({ invalid_parameter: 1 });
    expect(endpoints.map(({ name }) => name)).not.toContain('search');
    expect((await overview(await keyOf({ scopes: ['manage'], endpoints: ['logs.all'] }))).search).toBeNull();
  });

  test('is for keys with manage, each within its lists', async () => {
    expectError(await get(url, '/api/overview', { 'x-api-key': await keyOf({}) }), 'forbidden');
    const key = await keyOf({ scopes: ['manage'], endpoints: ['logs.all'], sources: [EDGE] });
    const seen = await overview(key);
    expect(seen.endpoints.map((one) => one.name)).toEqual(['logs.all']);
    expect(seen.sources.map((one) => one.name)).toEqual([EDGE]);
  });
});

describe('the definitions', () => {
  test('are told to keys that may read the endpoint, the SQL to keys with manage', async () => {
    const key = await keyOf({ endpoints: ['logs.all'], pins: { project: 'p1' } });
    const { result } = await read<{ result: EndpointView[] }>('/api/endpoints', key);
    expect(result).toMatchObject([{ name: 'logs.all', caching_seconds: null, sql: null }]);
    expect(result[0]?.parameters.map((one) => one.pinned)).toEqual(['p1', null, null, null]);
    const all = await read<{ result: EndpointView[] }>('/api/endpoints');
    expect(all.result.map((one) => one.sql?.includes('SELECT'))).toEqual([true, true, true, true]);
  });

  test('have the sources of their events that the key may search', async () => {
    const sourcesOf = async (fields: object) => {
      const { result } = await read<{ result: EndpointView[] }>('/api/endpoints', await keyOf(fields));
      return Object.fromEntries(result.map(({ name, sources }) => [name, sources]));
    };
    expect(await sourcesOf({})).toMatchObject({
      'functions.invocation-stats': ['deno-relay-logs'],
      'usage.api-counts': [EDGE],
    });
    expect(await sourcesOf({ sources: [EDGE] })).toEqual({
      'functions.invocation-stats': [],
      'logs.all': [EDGE],
      'usage.api-counts': [EDGE],
      'usage.ingest': [],
    });
    expect(await sourcesOf({ endpoints: ['usage.api-counts'] })).toEqual({ 'usage.api-counts': [] });
    expect(await sourcesOf({ scopes: ['manage'] })).toMatchObject({ 'usage.api-counts': [] });
  });

  test('of the key itself are returned to any key', async () => {
    expect(await read<Self>('/api/self', PUBLIC_KEY)).toMatchObject({ id: 'public', scopes: ['ingest'] });
    const key = await keyOf({ pins: { project: 'p1' }, endpoints: ['logs.all'] });
    expect(await read<Self>('/api/self', key)).toMatchObject({
      scopes: ['query'],
      endpoints: ['logs.all'],
      sources: null,
      pins: { project: 'p1' },
      token: false,
    });
    expectError(await get(url, '/api/self', { 'x-api-key': '' }), 'unauthorized');
  });
});

describe('the projects', () => {
  test('are those that have events, and for a pinned key its own alone', async () => {
    await send('p1');
    await send('another');
    await read<Projects>('/api/projects');
    clock.now += 31_000;
    await read<Projects>('/api/projects');
    await expect
      .poll(async () => (await read<Projects>('/api/projects')).result)
      .toEqual(expect.arrayContaining(['another', 'p1']));
    expect(await read<Projects>('/api/projects', await keyOf({ pins: { project: 'mine' } }))).toEqual({
      result: ['mine'],
      complete: true,
    });
  });
});

test('without an engine the overview still answers, and says so', async () => {
  await core.engine.close();
  clock.now += 6_000;
  expect((await overview()).endpoints.length).toBe(4);
  await expect
    .poll(async () => (await overview()).engine)
    .toMatchObject({
      state: 'unavailable',
      message: 'the engine does not respond',
    });
});
