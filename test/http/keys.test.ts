import { describe, expect, test } from 'vitest';
import type { NewKey } from '../../src/keys/management.ts';
import { EDGE, expectError, get, idsOf, post, QUERY_PATH, read, request, TO_EDGE } from '../support/http.ts';
import { newProject, PRIVATE_KEY, shareService, storeEvents } from '../support/service.ts';

const service = await shareService();
const { url, clock, core } = service;
const { keyring } = service.service;

interface KeyView {
  readonly id: string;
  readonly key: string;
  readonly pins: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

const create = (body: object, key = PRIVATE_KEY) =>
  post<KeyView>(url, '/api/keys', { name: 'x', ...body }, { 'x-api-key': key });
const list = async (limit: number, key?: string) =>
  (await read<{ result: KeyView[] }>(url, `/api/keys?limit=${limit}`, key)).result;
const withKey = (key: string, path: string) => get(url, `${QUERY_PATH}/${path}`, { 'x-api-key': key });

test.each([
  ['no key', { 'x-api-key': '' }],
  ['a key of the right form that was never created', { 'x-api-key': `tr_${'a'.repeat(40)}` }],
  ['a bad X-API-KEY beside a good bearer', { 'x-api-key': 'x', authorization: `Bearer ${PRIVATE_KEY}` }],
])('a request is rejected with %s, also if the key is in the URL', async (_, headers) => {
  const answer = await get(url, `${QUERY_PATH}/logs.all?project=p1&api_key=${PRIVATE_KEY}`, headers);
  expectError(answer, 'unauthorized');
  expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="tailrace"');
});

test('the management of keys makes a key, shows it once, and never its hash', async () => {
  const body = {
    name: ' front end ',
    description: 'the dashboard',
    scopes: ['query'],
    endpoints: ['logs.all', 'E1B1B652-4EA8-4B47-94BA-AD2938BD0675'],
    sources: null,
    pins: { project: 'abc', project_tier: 'PRO' },
    rate: { per_second: 2.5, burst: 5 },
    expires_at: '2200-01-01T00:00:00Z',
  };
  const made = await create(body);
  expect(made.status).toBe(201);
  expect(made.headers.get('cache-control')).toBe('no-store');
  const { key, id, ...view } = made.body as KeyView;
  expect(key).toMatch(/^tr_/);
  expect(view).toEqual({
    ...body,
    name: 'front end',
    endpoints: ['logs.all', 'e1b1b652-4ea8-4b47-94ba-ad2938bd0675'],
    expires_at: '2200-01-01T00:00:00.000Z',
    created_at: new Date(clock.now).toISOString(),
    last_used_at: null,
    revoked_at: null,
    successor: null,
  });
  expect(await read(url, `/api/keys/${id}`)).toEqual({ id, ...view });
  const listed = await list(1_000);
  expect(listed.find((one) => one.id === id)).toEqual({ id, ...view });
  expect(JSON.stringify(listed)).not.toContain('hash');
  expect((await withKey(key, 'logs.all')).status).toBe(200);
  expectError(await withKey(key, 'functions.invocation-stats'), 'forbidden');
});

describe('a restricted key that manages', async () => {
  const pins = { project: 'abc' };
  const limits = { pins, endpoints: ['logs.all'] };
  const manager = await keyring.create({ name: 'm', scopes: ['query', 'manage'], ...limits });

  test('makes keys that may do no more than itself', async () => {
    const narrow = { scopes: ['query'], ...limits, pins: { ...pins, project_tier: 'PRO' } };
    expect((await create(narrow, manager.key)).status).toBe(201);
    for (const wider of [
      { ...narrow, pins: {} },
      { ...narrow, pins: { project: 'xyz' } },
      { ...narrow, endpoints: null },
      { ...narrow, scopes: ['ingest'] },
    ]) {
      expectError(await create(wider, manager.key), 'forbidden', 'cannot give more than it has');
    }
  });

  test('sees, changes and revokes no others, and widens none, not even itself', async () => {
    const other = await keyring.create({ name: 'other', scopes: ['query'], pins: { project: 'xyz' } });
    const own = await keyring.create({ name: 'own', scopes: ['query'], ...limits });
    const call = (method: string, path: string, body?: object) =>
      request(url, path, {
        method,
        headers: { 'x-api-key': manager.key, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      });
    const listed = (await list(1_000, manager.key)).map((key) => key.id);
    expect([listed.includes(own.id), listed.includes(other.id)]).toEqual([true, false]);
    // A page is as long as was asked, whatever keys that it may not know of are between them.
    for (let i = 0; i < 5; i++)
      await keyring.create({ name: 'hidden', scopes: ['query'], pins: { project: 'xyz' } });
    expect((await list(1, manager.key)).map((key) => key.id)).toEqual(listed.slice(0, 1));
    const path = `/api/keys/${other.id}`;
    for (const method of ['GET', 'DELETE']) expectError(await call(method, path), 'not_found');
    expectError(await call('PATCH', path, { name: 'mine' }), 'not_found');
    expectError(await call('POST', `${path}/rotate`), 'not_found');
    expect((await keyring.find(other.id))?.revokedMs).toBeUndefined();
    for (const id of [own.id, manager.id])
      expectError(await call('PATCH', `/api/keys/${id}`, { pins: {} }), 'forbidden');
    expect((await call('DELETE', `/api/keys/${own.id}`)).status).toBe(200);
    expectError(await call('GET', '/api/keys/log'), 'forbidden');
  });
});

describe('events sent with a pinned key', async () => {
  const [pinned, other] = [newProject(), newProject()];
  const limits = { pins: { project: pinned }, sources: [EDGE] };
  const key = await service.newKey({ scopes: ['ingest'], ...limits });
  const send = (body: object, headers = {}, path = TO_EDGE) =>
    post<{ message: string[] }>(url, path, body, { 'x-api-key': key, ...headers });

  test('belong to its project; those that name another are rejected with the reason', async () => {
    const sent = await send([
      { id: 'a' },
      { id: 'b', project: other },
      { id: 'c', metadata: { project_ref: pinned } },
      { id: 'd', metadata: { project: other } },
    ]);
    expect(sent.status).toBe(406);
    expect(sent.body.message).toEqual([
      `event 2: names the project "${other}", but the key sends for "${pinned}" only`,
      `event 4: names the project "${other}", but the key sends for "${pinned}" only`,
    ]);
    expect(await idsOf(core, other)).toEqual([]);
    expect(await idsOf(core, pinned)).toEqual(['a', 'c']);
  });

  test('are held to it in a large body, too, which is read in another thread', async () => {
    const filler = 'x'.repeat(1_000);
    const projects = Array.from({ length: 300 }, (_, i) => (i % 3 === 0 ? other : pinned));
    const sent = await send(projects.map((project) => ({ event_message: filler, project })));
    expect(sent.status).toBe(406);
    expect(sent.body.message).toHaveLength(100);
    expect(await idsOf(core, other)).toEqual([]);
  });

  test('are rejected as a whole with X-Project of another project, or to another source', async () => {
    const elsewhere = await send({ id: 'h' }, { 'x-project': other });
    expectError(elsewhere, 'forbidden');
    expect(elsewhere.body.error.errors).toEqual([
      { parameter: 'X-Project', message: expect.stringMatching(/^is pinned to /) },
    ]);
    expectError(await send({ id: 'h' }, {}, '/api/logs?source_name=postgres.logs'), 'forbidden');
    expect(await idsOf(core, pinned)).not.toContain('h');
  });
});

test('a pinned key and an unpinned one that ask the same of a project share the cached answer', async () => {
  const project = newProject();
  const pinned = await service.newKey({ pins: { project } });
  const open = await service.newKey();
  const statusOf = async (...asked: Parameters<typeof withKey>) =>
    (await withKey(...asked)).headers.get('cache-status');
  const stats = 'functions.invocation-stats?interval=1hr';
  expect(await statusOf(pinned, stats)).toContain('stored');
  expect(await statusOf(open, `${stats}&project=${project}`)).toContain('hit');
  // By a pattern, the unpinned one sees more.
  const counts = 'usage.api-counts?interval=daily';
  expect(await statusOf(pinned, counts)).toContain('stored');
  expect(await statusOf(open, `${counts}&project=${project}`)).toContain('stored');
});

const [alpha, beta] = [newProject(), newProject()];
const events = [alpha, beta].map((project) => ({
  id: `of-${project}`,
  project,
  timestamp: clock.now - 60_000,
  metadata: { request: { path: '/rest/v1', url: `https://${project}.example/rest/v1` } },
}));
await storeEvents(core, EDGE, events, clock.now);

const logsOf = (key: string, query: string) => withKey(key, `logs.all?${query}`);

const ask = (key: string, body: object = {}) =>
  post<{ token: string }>(url, '/api/tokens', body, { 'x-api-key': key });

async function mint(key: string, body: object = {}): Promise<string> {
  const answer = await ask(key, body);
  expect(answer.status).toBe(201);
  return answer.body.token;
}

const newParent = async (fields: Partial<NewKey> = {}) =>
  await keyring.create({ name: 'parent', scopes: ['query', 'ingest'], ...fields });

describe('a token', () => {
  test('reads what its pins let it, and nothing of other projects', async () => {
    const { key } = await newParent();
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
    const { key } = await newParent({ ...limits, rate: { perSecond: 50, burst: 100 } });
    const answer = await ask(key);
    expect(answer.body).toMatchObject({
      ...{ ...limits, scopes: ['query'], sources: null, rate: { per_second: 50, burst: 100 } },
      expires_at: new Date(Math.floor((clock.now + 3_600_000) / 1000) * 1000).toISOString(),
    });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const counts = `usage.api-counts?project=${alpha}&interval=daily`;
    expectError(await withKey(answer.body.token, counts), 'forbidden');
  });

  test('of a key that has less by now is rejected', async () => {
    const { id, key } = await newParent();
    const wide = await mint(key);
    const narrow = await mint(key, { pins: { project: alpha }, endpoints: ['logs.all'] });
    await keyring.update(id, { pins: { project: alpha } });
    expectError(await logsOf(wide, `project=${alpha}`), 'unauthorized', 'rights that its key has lost');
    expect((await logsOf(narrow, '')).status).toBe(200);
  });

  test('has its own rate, and counts for that of its key', async () => {
    const { key } = await newParent({ rate: { perSecond: 1, burst: 4 } }); // one of them goes for each token
    const own = await mint(key, { rate: { per_second: 1, burst: 1 } });
    const plain = await mint(key);
    const statusOf = async (token: string) => (await logsOf(token, `project=${alpha}`)).status;
    expect([await statusOf(own), await statusOf(own)]).toEqual([200, 429]);
    expect([await statusOf(plain), await statusOf(plain)]).toEqual([200, 429]);
    expect((await logsOf(key, `project=${alpha}`)).status).toBe(429);
  });

  test('cannot make another', async () => {
    expectError(await ask(await mint((await newParent()).key)), 'forbidden');
  });
});

// What is narrower, test/keys/grant.unit.test.ts tries.
test('what is wider than the key is rejected', async () => {
  const answer = await ask((await newParent({ sources: [EDGE] })).key, { sources: ['postgres.logs'] });
  expectError(answer, 'forbidden', /^a token cannot do more than its key: /);
});
