import { describe, expect, test, vi } from 'vitest';
import { EDGE, expectError, get, QUERY_PATH } from '../support/http.ts';
import { newProject, ownService, storeEvents } from '../support/service.ts';
import { openTail } from '../support/tail.ts';

const service = await ownService({
  env: { TAILRACE_CORS_ORIGINS: '*' },
  bounds: { tailsPerKeyMax: 4, tailsMax: 5 },
});
const { url, core, clock } = service;
const { keyring } = service.service;

const EVENTS = { accept: 'text/event-stream' };
const POSTGRES = 'postgres.logs';
const READER = { name: 'a reader', scopes: ['query'] } as const;

/** Stores events of some ids, each so many ms ago. */
async function store(project: string, agoMs: Readonly<Record<string, number>>, source = EDGE): Promise<void> {
  const events = Object.entries(agoMs).map(([id, ms]) => ({
    ...{ id, project, event_message: `it is ${id}`, metadata: { big: 1, text: 'a\r\nb' } },
    timestamp: new Date(clock.now - ms).toISOString(),
  }));
  await storeEvents(core, source, events, clock.now);
}
const idsOf = (events: readonly { data: Record<string, unknown> }[]) => events.map(({ data }) => data['id']);
const endsOf = (events: readonly { event: string; data: Record<string, unknown> }[]) =>
  events.map(({ event, data }) => [event, data['reason']]);

const LOGS = `${QUERY_PATH}/logs.all`;
const SEARCH = '/api/search';

describe.each([
  ['an endpoint', LOGS],
  ['a search', SEARCH],
])('a live tail of %s', (_, path) => {
  const pathOf = (project: string) => `${path}?project=${project}`;

  test('sends new rows as events, oldest first, as they are read', async () => {
    const project = newProject();
    await store(project, { before: 9_000 });
    const tail = await openTail(url, pathOf(project));
    expect(tail.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(tail.headers.get('cache-control')).toBe('no-store');
    await store(project, { b: 5_000, a: 6_000 });
    await store(project, { c: 4_000 });
    const events = await tail.next(3);
    tail.close();
    expect(idsOf(events)).toEqual(['a', 'b', 'c']);
    expect(events.map(({ event }) => event)).toEqual(['row', 'row', 'row']);
    const { body } = await get(url, pathOf(project));
    expect(body.result.slice(0, 3)).toEqual(events.map(({ data }) => data).reverse());
  });

  test('goes on after an event without loss or repeat, however long ago that was', async () => {
    const project = newProject();
    const tail = await openTail(url, pathOf(project));
    await store(project, { seen: 1_000 });
    const [{ id = '' } = {}] = await tail.next(1);
    await store(project, { late: 5_000 });
    expect((await tail.next(1))[0]).toMatchObject({ id, data: { id: 'late' } });
    tail.close();
    clock.now += 3_600_000;
    const many = Array.from({ length: 150 }, (_, i) => [`e${100 + i}`, 3_540_000 - i] as const);
    await store(project, Object.fromEntries(many));
    const wanted = [...many.map(([one]) => one), 'since'];
    const byHeader = await openTail(url, pathOf(project), { 'last-event-id': id });
    const byCursor = await openTail(url, `${pathOf(project)}&cursor=${id}`);
    await store(project, { since: 0 });
    for (const again of [byHeader, byCursor]) {
      expect(idsOf(await again.next(151))).toEqual(wanted);
      again.close();
    }
  });

  test('shows a key no rows of another project, and does not go on after an event of another key', async () => {
    const [mine, theirs] = [newProject(), newProject()];
    const key = await service.newKey({ pins: { project: mine } });
    const tail = await openTail(url, path, { 'x-api-key': key });
    await store(theirs, { theirs: 1_000 });
    await store(mine, { mine: 2_000 });
    const events = await tail.next(1);
    tail.close();
    expect(idsOf(events)).toEqual(['mine']);
    const after = { ...EVENTS, 'last-event-id': events[0]?.id ?? '' };
    expectError(await get(url, pathOf(theirs), after), 'invalid_parameter');
    expectError(await get(url, pathOf(theirs), { ...EVENTS, 'x-api-key': key }), 'forbidden');
  });

  test('ends with the key, and says why', async () => {
    const grant = { ...READER, pins: { project: 'pinned' } };
    const revoked = await keyring.create(grant);
    const changed = await keyring.create(grant);
    const expired = await keyring.create({ ...grant, expiresMs: clock.now + 60_000 });
    const open = ({ key }: { key: string }) => openTail(url, path, { 'x-api-key': key });
    const tails = await Promise.all([revoked, changed, expired].map(open));
    await keyring.revoke(revoked.id);
    await keyring.update(changed.id, { pins: { project: 'another' }, sources: [POSTGRES] });
    clock.now += 60_001;
    expect((await Promise.all(tails.map((tail) => tail.next(1)))).flatMap(endsOf)).toEqual([
      ['end', 'key_revoked'],
      ['end', 'key_changed'],
      ['end', 'key_expired'],
    ]);
    expect(await tails[0]?.next(1)).toEqual([]);
    expectError(await get(url, path, { ...EVENTS, 'x-api-key': revoked.key }), 'unauthorized');
  });
});

test('live tails are rejected beyond the number of a key, and beyond the number of all', async () => {
  const path = `${LOGS}?project=${newProject()}`;
  const tails = await Promise.all(Array.from({ length: 4 }, () => openTail(url, path)));
  expectError(await get(url, path, EVENTS), 'rate_limited', 'this key has 4 live tails open');
  const key = await service.newKey();
  const fifth = await openTail(url, path, { 'x-api-key': key });
  expectError(await get(url, path, { ...EVENTS, 'x-api-key': key }), 'rate_limited', '5 live tails are open');
  for (const tail of [...tails, fifth]) tail.close();
  await vi.waitFor(async () => (await openTail(url, path)).close(), 60_000);
});

test('live tails end when the service shuts down', async () => {
  const tail = await openTail(url, `${LOGS}?project=p`, { origin: 'https://app.example.com' });
  expect(tail.headers.get('access-control-allow-origin')).toBe('*');
  const closed = service.service.close();
  expect(endsOf(await tail.next(2))).toEqual([['end', 'shutdown']]);
  await closed;
});
