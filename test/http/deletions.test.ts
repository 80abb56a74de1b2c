import { expect, test, vi } from 'vitest';
import { EDGE, expectError, get, idsOf, post, QUERY_PATH } from '../support/http.ts';
import { PRIVATE_KEY, shareService, storeEvents } from '../support/service.ts';

const service = await shareService();
const { url, clock, core } = service;
const FUNCTIONS = 'deno-relay-logs';
const HOUR_MS = 3_600_000;

interface Deleted {
  readonly id: string;
  readonly state: string;
  readonly rows: number;
  readonly sources: readonly { source: string; rows: number }[];
}

const ask = (body: object, key = PRIVATE_KEY) =>
  post<Deleted>(url, '/api/deletions', body, { 'x-api-key': key });

/** Deletes, and waits for the end. */
async function remove(body: object): Promise<Deleted> {
  let answer = await ask(body);
  while (answer.status === 202) answer = await get<Deleted>(url, `/api/deletions/${answer.body.id}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** So many events of a project an hour apart, the last of them now. */
async function fill(project: string, count: number, source = EDGE): Promise<void> {
  const events = Array.from({ length: count }, (_, i) => ({
    id: `${project}-${i}`,
    timestamp: new Date(clock.now - i * HOUR_MS).toISOString(),
    project,
    event_message: project,
    metadata: {
      project_ref: project,
      request: { path: '/rest/v1', url: `https://${project}.example.com/rest` },
    },
  }));
  await storeEvents(core, source, events, clock.now);
}

const countStored = async (project: string, source = EDGE) =>
  (await idsOf(core, project, core.registry.getSource(source).table)).length;

test('a deletion deletes a project from every source, and no other project', async () => {
  await fill('gone', 50);
  await fill('gone', 7, FUNCTIONS);
  await fill('kept', 50);
  const deleted = await remove({ project: 'gone' });
  expect(deleted).toMatchObject({
    state: 'done',
    rows: 57,
    sources: [
      { source: EDGE, rows: 50 },
      { source: FUNCTIONS, rows: 7 },
    ],
  });
  expect([await countStored('gone'), await countStored('gone', FUNCTIONS)]).toEqual([0, 0]);
  expect(await countStored('kept')).toBe(50);
  const log = await get(url, '/api/keys/log?limit=1000'); // rejections of other tests are added once a minute
  const detail = '57 events of project "gone" in all sources';
  const entry = expect.objectContaining({ action: 'deleted', actor: 'private', detail });
  expect(log.body.result).toContainEqual(entry);
});

test('a deletion holds to a source and to the time before an instant, which itself stays', async () => {
  await fill('bounded', 4);
  await fill('bounded', 4, FUNCTIONS);
  const before = new Date(clock.now - 2 * HOUR_MS).toISOString();
  const asked = { project: 'bounded', source: EDGE, before };
  const planned = await ask({ ...asked, dry_run: true });
  expect(planned.body).toMatchObject({ id: null, state: 'planned', rows: 1 });
  expect(await countStored('bounded')).toBe(4);
  expect(await remove(asked)).toMatchObject({ rows: 1, before: before.replace('Z', '000Z') });
  expect([await countStored('bounded'), await countStored('bounded', FUNCTIONS)]).toEqual([3, 4]);
});

test('what was cached of deleted events is gone, and an answer that was under way is not kept', async () => {
  await fill('slow', 5);
  const read = async () =>
    (await get(url, `${QUERY_PATH}/usage.api-counts?project=slow&interval=hourly`)).body.result;
  const before = (await read()).map((row) => Number(row['total_rest_requests']));
  expect(Math.max(...before)).toBeGreaterThan(0);
  const path = `${QUERY_PATH}/usage.api-counts?project=slow&interval=daily`;
  const { query } = core.engine;
  const gate = Promise.withResolvers<void>();
  const spy = vi.spyOn(core.engine, 'query').mockImplementationOnce(async (...asked) => {
    const answer = await query(...asked);
    await gate.promise;
    return answer;
  });
  const first = get(url, path);
  await vi.waitFor(() => expect(spy).toHaveBeenCalled());
  await remove({ project: 'slow' });
  gate.resolve();
  await first;
  expect([await read(), (await get(url, path)).body.result]).toEqual([[], []]);
});

test('the deletion of events rejects what it does not know, and keys that are limited', async () => {
  for (const body of [{}, { project: 1 }, { project: 'x', until: '' }, { project: 'x', source: '' }])
    expectError(await ask(body), 'invalid_request');
  const both = await ask({ project: 'x', source: 'nothing', before: 'yesterday' });
  expectError(both, 'invalid_request');
  expect(both.body.error.errors).toMatchObject([{ parameter: 'source' }, { parameter: 'before' }]);
  const limits = [{ endpoints: ['logs.all'] }, { sources: [EDGE] }, { pins: { project: 'x' } }];
  for (const limit of limits) {
    const key = await service.newKey({ scopes: ['manage'], ...limit });
    expectError(await ask({ project: 'x' }, key), 'forbidden');
  }
  const key = await service.newKey({ scopes: ['query', 'ingest'] });
  expectError(await ask({ project: 'x' }, key), 'forbidden');
  expectError(await get(url, '/api/deletions/nothing'), 'not_found');
});
