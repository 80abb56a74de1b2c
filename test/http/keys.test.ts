import { describe, expect, test } from 'vitest';
import { expectError, get, idsOf, post, QUERY_PATH, read, request, TO_EDGE } from '../support/http.ts';
import { newProject, PRIVATE_KEY, shareService } from '../support/service.ts';

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

describe('a request', () => {
  const path = `${QUERY_PATH}/logs.all?project=p1`;

  test.each([
    ['no key', { 'x-api-key': '' }],
    ['a key of the right form that was never created', { 'x-api-key': `tr_${'a'.repeat(40)}` }],
    ['a bad X-API-KEY beside a good bearer', { 'x-api-key': 'x', authorization: `Bearer ${PRIVATE_KEY}` }],
  ])('is rejected with %s, also if the key is in the URL', async (_, headers) => {
    const answer = await get(url, `${path}&api_key=${PRIVATE_KEY}`, headers);
    expectError(answer, 'unauthorized');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="tailrace"');
  });
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
  const limits = { pins: { project: pinned }, sources: ['cloudflare.logs.prod'] };
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
