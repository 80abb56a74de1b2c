import { afterAll, describe, expect, test, vi } from 'vitest';
import { expectError, get, QUERY_PATH } from '../support/http.ts';
import { startTestService, storeEvents } from '../support/service.ts';
import { openTail } from '../support/tail.ts';

const service = await startTestService({
  env: { TAILRACE_TAILS_PER_KEY_MAX: '4', TAILRACE_TAILS_MAX: '5', TAILRACE_CORS_ORIGINS: '*' },
});
afterAll(service.close);
const { url, core, clock } = service;

const EVENTS = { accept: 'text/event-stream' };
let projects = 0;
/** One of its own for each test, also if it runs again. */
const newProject = () => `project-${++projects}`;
const pathOf = (project: string) => `${QUERY_PATH}/logs.all?project=${project}`;

/** Stores an event, ms ago. */
async function store1(project: string, id: string, agoMs: number): Promise<void> {
  await storeMany(project, [[id, agoMs]]);
}

async function storeMany(project: string, events: readonly (readonly [id: string, agoMs: number])[]) {
  const rows = events.map(([id, agoMs]) => ({
    ...{ id, project, event_message: `it is ${id}`, timestamp: new Date(clock.now - agoMs).toISOString() },
    metadata: { big: 1, text: 'a\r\nb' },
  }));
  await storeEvents(core, 'cloudflare.logs.prod', rows, clock.now);
}

const idsOf = (events: readonly { data: Record<string, unknown> }[]) => events.map(({ data }) => data['id']);

describe('a live tail', () => {
  test('sends new rows as events, oldest first, as the endpoint returns them', async () => {
    const project = newProject();
    await store1(project, 'before', 9_000);
    const tail = await openTail(url, pathOf(project));
    expect(tail.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(tail.headers.get('cache-control')).toBe('no-store');
    await storeMany(project, [
      ['b', 5_000],
      ['a', 6_000],
    ]);
    await store1(project, 'c', 4_000);
    const events = await tail.next(3);
    tail.close();
    expect(idsOf(events)).toEqual(['a', 'b', 'c']);
    expect(events.map(({ event }) => event)).toEqual(['row', 'row', 'row']);
    const { body } = await get(url, pathOf(project));
    expect(body.result.slice(0, 3)).toEqual(events.map(({ data }) => data).reverse());
  });

  test('sends a row that comes late, and goes on after it without loss or repeat', async () => {
    const project = newProject();
    await store1(project, 'old', 9_000);
    const tail = await openTail(url, pathOf(project));
    await store1(project, 'new', 1_000);
    const [first] = await tail.next(1);
    await store1(project, 'late', 5_000);
    const [late] = await tail.next(1);
    tail.close();
    expect(idsOf([first, late].filter((one) => one !== undefined))).toEqual(['new', 'late']);
    expect(late?.id).toBe(first?.id);
    await store1(project, 'newest', 500);
    const again = await openTail(url, pathOf(project), { 'last-event-id': late?.id ?? '' });
    await store1(project, 'last', 100);
    expect(idsOf(await again.next(2))).toEqual(['newest', 'last']);
    again.close();
  });

  test('is refused beyond the number of a key, and beyond the number of all', async () => {
    const path = pathOf(newProject());
    const tails = await Promise.all(Array.from({ length: 4 }, () => openTail(url, path)));
    const refused = await get(url, path, EVENTS);
    expectError(refused, 'rate_limited');
    expect(refused.body.error.message).toContain('this key has 4 live tails open');
    const { key } = await service.service.keyring.create({ name: 'other', scopes: ['query'] });
    const fifth = await openTail(url, path, { 'x-api-key': key });
    const sixth = await get(url, path, { ...EVENTS, 'x-api-key': key });
    expectError(sixth, 'rate_limited');
    expect(sixth.body.error.message).toContain('5 live tails are open');
    for (const tail of [...tails, fifth]) tail.close();
    await vi.waitFor(async () => (await openTail(url, path)).close(), 20_000);
  });

  test('ends with the key, and says why', async () => {
    const { keyring } = service.service;
    const grant = { name: 'leaver', scopes: ['query'], pins: { project: 'pinned' } } as const;
    const revoked = await keyring.create(grant);
    const changed = await keyring.create(grant);
    const expired = await keyring.create({ ...grant, expiresMs: clock.now + 60_000 });
    const open = ({ key }: { key: string }) => openTail(url, `${QUERY_PATH}/logs.all`, { 'x-api-key': key });
    const tails = await Promise.all([revoked, changed, expired].map(open));
    await keyring.revoke(revoked.id);
    await keyring.update(changed.id, { pins: { project: 'another' } });
    clock.now += 60_001;
    const ends = await Promise.all(tails.map((tail) => tail.next(1)));
    expect(ends.flat().map(({ event, data }) => [event, data['reason']])).toEqual([
      ['end', 'key_revoked'],
      ['end', 'key_changed'],
      ['end', 'key_expired'],
    ]);
    expect(await tails[0]?.next(1)).toEqual([]);
    expectError(
      await get(url, `${QUERY_PATH}/logs.all`, { ...EVENTS, 'x-api-key': revoked.key }),
      'unauthorized',
    );
  });

  test('shows a key no rows of another project', async () => {
    const { key } = await service.service.keyring.create({
      name: 'mine',
      scopes: ['query'],
      pins: { project: 'mine' },
    });
    const tail = await openTail(url, `${QUERY_PATH}/logs.all`, { 'x-api-key': key });
    await store1('theirs', 'theirs', 1_000);
    await store1('mine', 'mine', 2_000);
    const events = await tail.next(1);
    expect(idsOf(events)).toEqual(['mine']);
    tail.close();
    const refused = await get(url, `${pathOf('theirs')}&cursor=${events[0]?.id}`, EVENTS);
    expectError(refused, 'invalid_parameter');
  });

  test('with a wrong cursor or parameter is refused like an answer', async () => {
    expectError(await get(url, `${pathOf('p')}&cursor=x`, EVENTS), 'invalid_parameter');
    expectError(await get(url, pathOf('p'), { ...EVENTS, 'last-event-id': 'x.y' }), 'invalid_parameter');
    expectError(await get(url, `${QUERY_PATH}/logs.all`, EVENTS), 'invalid_parameter');
  });
});

test('live tails end when the service shuts down', async () => {
  const tail = await openTail(url, pathOf('p'), { origin: 'https://app.example.com' });
  expect(tail.headers.get('access-control-allow-origin')).toBe('*');
  const closed = service.service.close();
  expect((await tail.next(2)).map(({ event, data }) => [event, data['reason']])).toEqual([
    ['end', 'shutdown'],
  ]);
  await closed;
});
