import { afterAll, describe, expect, test } from 'vitest';
import type { ErrorCode } from '../../src/errors.ts';
import { expectError, get } from '../support/http.ts';
import { startTestService, storeEvents } from '../support/service.ts';
import { openTail } from '../support/tail.ts';

const service = await startTestService({ env: { TAILRACE_TAILS_PER_KEY_MAX: '12' } });
afterAll(service.close);
const { url, core, clock } = service;
const { keyring } = service.service;

const EVENTS = { accept: 'text/event-stream' };
const EDGE = 'cloudflare.logs.prod';
const POSTGRES = 'postgres.logs';
const MINUTE_MS = 60_000;
const READER = { name: 'a reader', scopes: ['query'] } as const;

let projects = 0;
/** One of its own for each test, also if it runs again. */
const newProject = () => `project-${++projects}`;

interface Stored {
  readonly id: string;
  readonly agoMs?: number;
  readonly message?: string;
}

async function storeIn(source: string, project: string, stored: readonly Stored[]): Promise<void> {
  const events = stored.map(({ id, agoMs = 1_000, message = '' }) => ({
    ...{ id, project, event_message: message, metadata: { response: { status_code: 503 } } },
    timestamp: new Date(clock.now - agoMs).toISOString(),
  }));
  await storeEvents(core, source, events, clock.now);
}

const pathOf = (project: string, parameters: Record<string, string> = {}) =>
  `/api/search?${new URLSearchParams({ project, ...parameters })}`;
const idsOf = (events: readonly { data: Record<string, unknown> }[]) => events.map(({ data }) => data['id']);

describe('a live tail of a search', () => {
  test('sends new rows that match, of all sources, as the search returns them', async () => {
    const project = newProject();
    await storeIn(EDGE, project, [{ id: 'before', agoMs: 9_000, message: 'a timeout' }]);
    const tail = await openTail(url, pathOf(project, { q: 'timeout' }));
    expect(tail.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    await storeIn(EDGE, project, [{ id: 'b', agoMs: 5_000, message: 'Timeout' }, { id: 'other' }]);
    const [first] = await tail.next(1);
    await storeIn(POSTGRES, project, [{ id: 'c', agoMs: 7_000, message: 'timeouts' }]);
    const [second] = await tail.next(1);
    tail.close();
    expect([first?.event, first?.data['source'], first?.data['level']]).toEqual(['row', EDGE, 'error']);
    const { body } = await get(url, pathOf(project, { q: 'timeout' }));
    expect(body.result.slice(0, 2)).toEqual([first?.data, second?.data]);
  });

  test('goes on after an event without loss or repeat, however long ago that was', async () => {
    const project = newProject();
    const tail = await openTail(url, pathOf(project));
    await storeIn(EDGE, project, [{ id: 'seen' }]);
    const [{ id = '' } = {}] = await tail.next(1);
    tail.close();
    clock.now += 60 * MINUTE_MS;
    const many = Array.from({ length: 150 }, (_, i) => ({ id: `e${100 + i}`, agoMs: 59 * MINUTE_MS - i }));
    await storeIn(EDGE, project, many);
    await storeIn(POSTGRES, project, [{ id: 'newest' }]);
    const wanted = [...many.map((one) => one.id), 'newest'];
    const byHeader = await openTail(url, pathOf(project), { 'last-event-id': id });
    const byCursor = await openTail(url, pathOf(project, { cursor: id }));
    await storeIn(EDGE, project, [{ id: 'since', agoMs: 0 }]);
    for (const again of [byHeader, byCursor]) {
      expect(idsOf(await again.next(152))).toEqual([...wanted, 'since']);
      again.close();
    }
  });

  test('shows a key its own project, and ends if its sources change', async () => {
    const [mine, theirs] = [newProject(), newProject()];
    const { key, id } = await keyring.create({ ...READER, pins: { project: mine } });
    const tail = await openTail(url, '/api/search?q=not%20zzz%20or%20project:*', { 'x-api-key': key });
    await storeIn(EDGE, theirs, [{ id: 'theirs' }]);
    await storeIn(EDGE, mine, [{ id: 'mine' }]);
    expect(idsOf(await tail.next(1))).toEqual(['mine']);
    await keyring.update(id, { sources: [POSTGRES] });
    expect((await tail.next(1)).map(({ event, data }) => [event, data['reason']])).toEqual([
      ['end', 'key_changed'],
    ]);
    expectError(await get(url, pathOf(theirs), { ...EVENTS, 'x-api-key': key }), 'forbidden');
  });

  test.each<[string, Record<string, string>, ErrorCode, string]>([
    ['of another part', { part: 'histogram' }, 'not_acceptable', 'part=histogram has no live tail'],
    [
      'of a range upside down',
      { from: '2200-01-02', until: '2200-01-01' },
      'invalid_parameter',
      'before "until"',
    ],
  ])('%s is refused before it begins, in JSON', async (_, parameters, code, message) => {
    const refused = await get(url, pathOf('p', parameters), EVENTS);
    expectError(refused, code);
    expect(refused.body.error.message).toContain(message);
  });

  test('does not go on after an event of another search, project or key', async () => {
    const project = newProject();
    const tail = await openTail(url, pathOf(project));
    await storeIn(EDGE, project, [{ id: 'a' }]);
    const [{ id = '' } = {}] = await tail.next(1);
    tail.close();
    const { key } = await keyring.create({ ...READER, sources: [EDGE] });
    for (const [path, headers] of [
      [pathOf(project, { q: 'x' }), {}],
      [pathOf('p'), {}],
      [pathOf(project), { 'x-api-key': key }],
    ] as const)
      expectError(await get(url, path, { ...EVENTS, 'last-event-id': id, ...headers }), 'invalid_parameter');
  });

  test('is refused to keys that cannot search, and beyond the number of a key', async () => {
    const limited = await keyring.create({ ...READER, endpoints: ['logs.all'] });
    expectError(await get(url, pathOf('p'), { ...EVENTS, 'x-api-key': limited.key }), 'forbidden');
    const { key } = await keyring.create(READER);
    const headers = { 'x-api-key': key };
    const tails = await Promise.all(Array.from({ length: 12 }, () => openTail(url, pathOf('p'), headers)));
    expectError(await get(url, pathOf('p'), { ...EVENTS, ...headers }), 'rate_limited');
    for (const tail of tails) tail.close();
  });
});
