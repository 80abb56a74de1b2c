import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SavedSearchView } from '../../src/management/view.ts';
import { request } from '../support/http.ts';
import { startPeople } from '../support/people.ts';
import { PRIVATE_KEY } from '../support/service.ts';

// Saved searches that their owner shares.

let people: Awaited<ReturnType<typeof startPeople>>;
let of: Record<'ada' | 'al' | 'bob' | 'carol' | 'dan' | 'eve', Person>;
beforeAll(async () => {
  people = await startPeople();
  const { accounts } = people.provider;
  accounts.set('al', { name: 'Al', groups: ['platform'] });
  for (const [name, project] of [
    ['carol', 'aurora'],
    ['dan', 'aurora'],
    ['eve', 'borealis'],
  ] as const)
    accounts.set(name, { name, kind: 'customer', projects: project });
  of = {
    ada: await sign('ada'),
    al: await sign('al'),
    bob: await sign('bob'),
    carol: await sign('carol'),
    dan: await sign('dan'),
    eve: await sign('eve'),
  };
}, 240_000);
afterAll(() => people.close());

type Person = Awaited<ReturnType<typeof sign>>;

async function sign(account: string) {
  const { act } = await people.signIn(account);
  const call = async (method: string, path = '', body?: unknown) => {
    const response = await act(method, `/api/searches${path}`, {
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  };
  const list = async () => (await call('GET')).body.result as SavedSearchView[];
  return {
    list,
    names: async () => (await list()).map(({ name }) => name),
    save: async (name: string, shared: unknown = null) =>
      await call('POST', '', { name, address: 'q=level%3Aerror', shared }),
    remove: async (id: string) => (await call('DELETE', `/${id}`)).status,
  };
}

describe('a saved search', () => {
  test('is seen by its owner alone, until it is shared with all who see the same events', async () => {
    const { ada, al, carol, dan, eve, bob } = of;
    const { body } = await carol.save('slow checkouts');
    expect(body).toMatchObject({ shared: null, is_own: true, author: 'carol' });
    for (const other of [ada, al, dan, eve]) expect(await other.names()).toEqual([]);
    expect((await carol.save('slow checkouts', 'all')).body).toMatchObject({ id: body.id, shared: 'all' });
    expect(await dan.list()).toEqual([
      expect.objectContaining({ name: 'slow checkouts', author: 'carol', is_own: false, shared: 'all' }),
    ]);
    // Another project, and a role that is limited to endpoints, so that it cannot search.
    for (const other of [eve, bob]) expect(await other.names()).toEqual([]);
    for (const manager of [ada, al]) expect(await manager.names()).toEqual(['slow checkouts']);
    expect((await carol.save('slow checkouts')).status).toBe(200);
    expect(await dan.names()).toEqual([]);
    expect(await carol.remove(body.id)).toBe(204);
  });

  test('that is shared with a role is seen by nobody else, beside those who manage the service', async () => {
    const { ada, carol, dan, eve } = of;
    const { key } = await people.service.keyring.create({
      ...{ name: 'same reach', scopes: ['query'], pins: { project: 'aurora' } },
    });
    const { body } = await carol.save('of customers', 'role');
    expect(await dan.names()).toEqual(['of customers']);
    const byKey = async () =>
      (await request(people.url, '/api/searches', { headers: { 'x-api-key': key } })).body.result.length;
    expect(await byKey()).toBe(0);
    expect(await eve.names()).toEqual([]);
    await carol.save('of customers', 'all');
    expect(await byKey()).toBe(1);
    expect(await dan.remove(body.id)).toBe(404);
    expect(await eve.remove(body.id)).toBe(404);
    expect(await ada.remove(body.id)).toBe(204);
    expect(await carol.names()).toEqual([]);
  });

  test('that nobody shares cannot be deleted by others', async () => {
    const { ada, dan } = of;
    const { body } = await dan.save('mine');
    expect(await ada.remove(body.id)).toBe(404);
    expect(await dan.remove(body.id)).toBe(204);
  });

  test('of somebody whom nothing limits is not shown to those whom something limits', async () => {
    const { ada, al, carol } = of;
    const { body } = await ada.save('project borealis', 'all');
    expect(await carol.names()).toEqual([]);
    expect(await al.list()).toEqual([expect.objectContaining({ author: 'ada@example.com', is_own: false })]);
    expect(await ada.remove(body.id)).toBe(204);
  });

  test('cannot be shared with the role of a key, or with another word', async () => {
    const send = async (shared: unknown) =>
      await request(people.url, '/api/searches', {
        method: 'POST',
        headers: { 'x-api-key': PRIVATE_KEY, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'a', address: '', shared }),
      });
    expect((await send('role')).body.error.errors).toEqual([
      { parameter: 'shared', message: expect.stringContaining('a key has no role') },
    ]);
    for (const shared of ['everyone', 7, ['all']])
      expect((await send(shared)).body.error.errors).toEqual([
        { parameter: 'shared', message: expect.stringContaining('"all", "role" or null') },
      ]);
  });
});
