import { afterAll, describe, expect, test } from 'vitest';
import { expectError, request } from '../support/http.ts';
import { PRIVATE_KEY, startTestService } from '../support/service.ts';

const service = await startTestService({ now: Date.UTC(2026, 10, 20, 12) });
afterAll(service.close);
const { url, clock } = service;
const { keyring } = service.service;

const NOW = '2026-11-20T12:00:00.000Z';

async function call(method: string, path = '', { body, key }: { body?: unknown; key?: string } = {}) {
  return await request(url, `/api/searches${path}`, {
    method,
    headers: {
      'x-api-key': key ?? PRIVATE_KEY,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

const save = (name: unknown, address: unknown = 'q=level%3Aerror&range=6h', key?: string) =>
  call('POST', '', { body: { name, address }, ...(key !== undefined && { key }) });
const namesOf = async (key?: string) =>
  (await call('GET', '', key === undefined ? {} : { key })).body.result.map(({ name }) => name);
const createKey = async () => await keyring.create({ name: 'a', scopes: ['query'] });
const idOf = ({ text }: { text: string }) => (JSON.parse(text) as { id: string }).id;

describe('/api/searches', () => {
  test('saves, lists by name, replaces and deletes', async () => {
    const { key } = await createKey();
    const first = await save(' slow requests ', 'q=level%3Aerror&range=6h&live=1', key);
    expect([first.status, first.headers.get('cache-control')]).toEqual([201, 'no-store']);
    const id = idOf(first);
    expect(JSON.parse(first.text)).toEqual({
      ...{ id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: 'slow requests' },
      ...{ address: 'q=level%3Aerror&range=6h&live=1', created_at: NOW, updated_at: NOW },
      ...{ shared: null, author: 'a', is_own: true },
    });
    for (const name of ['élan 10', 'élan 9', 'Zoo', '🔑'])
      expect((await save(name, '', key)).status).toBe(201);
    expect(await namesOf(key)).toEqual(['🔑', 'élan 9', 'élan 10', 'slow requests', 'Zoo']);
    clock.now += 60_000;
    const again = await save('slow requests', 'q=slow', key);
    clock.now -= 60_000;
    expect(again.status).toBe(200);
    expect(JSON.parse(again.text)).toMatchObject({
      ...{ id, address: 'q=slow', created_at: NOW, updated_at: '2026-11-20T12:01:00.000Z' },
    });
    const deleted = await call('DELETE', `/${id}`, { key });
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expectError(await call('DELETE', `/${id}`, { key }), 'not_found');
    expect(await namesOf(key)).toHaveLength(4);
  });

  test('has those of the calling key alone; that of the environment has some, too', async () => {
    const [one, other] = [await createKey(), await createKey()];
    const id = idOf(await save('mine', 'q=a', one.key));
    expect((await save('of the environment')).status).toBe(201);
    expect(await namesOf(one.key)).toEqual(['mine']);
    expect(await namesOf(other.key)).toEqual([]);
    expect(await namesOf()).toEqual(['of the environment']);
    expectError(await call('DELETE', `/${id}`, { key: other.key }), 'not_found');
    expectError(await call('DELETE', `/${id}`), 'not_found');
    expect(await namesOf(one.key)).toEqual(['mine']);
  });

  test('refuses signed tokens, and keys without the scope query', async () => {
    const { key, id } = await createKey();
    const caller = await keyring.authenticate(key);
    const { token } = await keyring.mint(caller, {
      scopes: ['query'],
      pins: {},
      expiresMs: clock.now + 60_000,
    });
    for (const [method, path] of [
      ['GET', ''],
      ['POST', ''],
      ['DELETE', `/${id}`],
    ] as const) {
      const answer = await call(method, path, { key: token, ...(method === 'POST' && { body: {} }) });
      expectError(answer, 'forbidden');
      expect(answer.body.error.message).toContain('signed token');
    }
    const sender = await keyring.create({ name: 'b', scopes: ['ingest', 'manage'] });
    expectError(await call('GET', '', { key: sender.key }), 'forbidden');
  });

  test.each([
    ['no name', 'name', '', ''],
    ['a name with a line break', 'name', 'a\nb', ''],
    ['a name with half a character', 'name', 'a\ud800', ''],
    ['no address', 'address', 'a', null],
    ['a long address', 'address', 'a', `q=${'a'.repeat(4_096)}`],
    ['a fragment', 'address', 'a', 'q=a#b'],
    ['a parameter that Explore has not', 'address', 'a', 'q=a&api_key=x'],
    ['a broken %', 'address', 'a', 'q=%zz'],
  ])('refuses %s', async (_, parameter, name, address) => {
    const answer = await save(name, address);
    expectError(answer, 'invalid_request');
    expect(answer.body.error.errors).toEqual([{ parameter, message: expect.stringMatching(/^(must|has)/) }]);
  });
});
