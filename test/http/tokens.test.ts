import { describe, expect, test } from 'vitest';
import type { NewKey } from '../../src/keys/management.ts';
import { expectError, get, post, QUERY_PATH } from '../support/http.ts';
import { newProject, shareService, storeEvents } from '../support/service.ts';

const service = await shareService();
const { url, clock, core } = service;
const { keyring } = service.service;

const EDGE = 'cloudflare.logs.prod';
const [alpha, beta] = [newProject(), newProject()];
const events = [alpha, beta].map((project) => ({
  id: `of-${project}`,
  project,
  timestamp: clock.now - 60_000,
  metadata: { request: { path: '/rest/v1', url: `https://${project}.example/rest/v1` } },
}));
await storeEvents(core, EDGE, events, clock.now);

const logsOf = (key: string, query: string) =>
  get(url, `${QUERY_PATH}/logs.all?${query}`, { 'x-api-key': key });

const ask = (key: string, body: object = {}) =>
  post<{ token: string }>(url, '/api/tokens', body, { 'x-api-key': key });

async function mint(key: string, body: object = {}): Promise<string> {
  const answer = await ask(key, body);
  expect(answer.status).toBe(201);
  return answer.body.token;
}

const newKey = async (fields: Partial<NewKey> = {}) =>
  await keyring.create({ name: 'parent', scopes: ['query', 'ingest'], ...fields });

describe('a token', () => {
  test('reads what its pins let it, and nothing of other projects', async () => {
    const { key } = await newKey();
    const token = await mint(key, { pins: { project: alpha } });
    const own = await logsOf(token, 'project_tier=PRO');
    expect(own.body.result.map((row) => row['id'])).toEqual([`of-${alpha}`]);
    const other = await logsOf(token, `project=${beta}`);
    expectError(other, 'forbidden');
    const message = expect.stringContaining(alpha);
    expect(other.body.error.errors).toEqual([{ parameter: 'project', message }]);
  });

  test('has what its key has where nothing else is asked for', async () => {
    const limits = { endpoints: ['logs.all'], pins: { project: alpha } };
    const { key } = await newKey({ ...limits, rate: { perSecond: 50, burst: 100 } });
    const answer = await ask(key);
    expect(answer.body).toMatchObject({
      ...{ ...limits, scopes: ['query'], sources: null, rate: { per_second: 50, burst: 100 } },
      expires_at: new Date(Math.floor((clock.now + 3_600_000) / 1000) * 1000).toISOString(),
    });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const path = `${QUERY_PATH}/usage.api-counts?project=${alpha}&interval=daily`;
    expectError(await get(url, path, { 'x-api-key': answer.body.token }), 'forbidden');
  });

  test('of a key that has less by now is rejected', async () => {
    const { id, key } = await newKey();
    const wide = await mint(key);
    const narrow = await mint(key, { pins: { project: alpha }, endpoints: ['logs.all'] });
    await keyring.update(id, { pins: { project: alpha } });
    expectError(await logsOf(wide, `project=${alpha}`), 'unauthorized', 'rights that its key has lost');
    expect((await logsOf(narrow, '')).status).toBe(200);
  });

  test('has its own rate, and counts for that of its key', async () => {
    const { key } = await newKey({ rate: { perSecond: 1, burst: 4 } }); // one of them goes for each token
    const own = await mint(key, { rate: { per_second: 1, burst: 1 } });
    const plain = await mint(key);
    const statusOf = async (token: string) => (await logsOf(token, `project=${alpha}`)).status;
    expect([await statusOf(own), await statusOf(own)]).toEqual([200, 429]);
    expect([await statusOf(plain), await statusOf(plain)]).toEqual([200, 429]);
    expect((await logsOf(key, `project=${alpha}`)).status).toBe(429);
  });

  test('cannot make another', async () => {
    expectError(await ask(await mint((await newKey()).key)), 'forbidden');
  });
});

// What is narrower, test/keys/grant.unit.test.ts tries.
test('what is wider than the key is rejected', async () => {
  const answer = await ask((await newKey({ sources: [EDGE] })).key, { sources: ['postgres.logs'] });
  expectError(answer, 'forbidden', /^a token cannot do more than its key: /);
});
