import { afterAll, describe, expect, test } from 'vitest';
import { expectError, request } from '../support/http.ts';
import { PRIVATE_KEY, startTestService } from '../support/service.ts';

const service = await startTestService({ now: Date.UTC(2026, 10, 20, 12) });
afterAll(service.close);
const { url, clock } = service;
const { keyring } = service.service;

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
});
