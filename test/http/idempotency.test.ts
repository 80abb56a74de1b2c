import { afterAll, expect, test, vi } from 'vitest';
import { idsOf, post, TO_EDGE } from '../support/http.ts';
import { newProject, ownFolder, PUBLIC_KEY, startTestService } from '../support/service.ts';

const folder = await ownFolder();
/** A service on the one data directory of this file. */
const start = (now = Date.now()) => startTestService({ env: { TAILRACE_DATA_DIR: folder.path }, now });
let service = await start();
afterAll(service.close);

const send = (key: string, body: object, headers = {}) =>
  post(service.url, TO_EDGE, body, { 'idempotency-key': key, ...headers });

test('a repeat gets the same response and stores nothing, while the first is stored or later; another body is stored', async () => {
  const project = newProject();
  const body = [{ id: '1', project }, { id: '2' }, 3];
  const answers = await Promise.all(Array.from({ length: 5 }, () => send(project, body)));
  answers.push(await send(project, body));
  for (const { status, body: sent, headers } of answers) {
    expect([status, headers.get('x-events-without-project')]).toEqual([406, '1']);
    expect(sent).toEqual(answers[0]?.body);
  }
  await send(project, [{ id: '3', project }]);
  expect(await idsOf(service.core, project)).toEqual(['1', '3']);
});

test('a repeat after a restart stores nothing, of any day; a failed request can be repeated', async () => {
  const project = newProject();
  const yesterday = Date.now() - 86_400_000;
  const body = [
    { id: '1', project },
    { id: '2', project, timestamp: yesterday },
  ];
  const failing = vi.spyOn(service.core.engine, 'insert').mockRejectedValueOnce(new Error('broken'));
  expect((await send(project, body)).status).toBe(500);
  failing.mockRestore();
  expect((await send(project, body)).status).toBe(200);
  await service.close();
  service = await start();
  expect((await send(project, body)).status).toBe(200);
  expect(await idsOf(service.core, project)).toEqual(['1', '2']);
});

test('a key means something only to its sender, source and project', async () => {
  const project = newProject();
  const body = [{ id: '1', project }];
  for (const headers of [{}, { 'x-api-key': PUBLIC_KEY }, { 'x-project': 'other' }])
    expect((await send('shared', body, headers)).status).toBe(200);
  const other = await post(service.url, '/logs?source_name=postgres.logs', body, {
    'idempotency-key': 'shared',
  });
  expect(other.status).toBe(200);
  expect(await idsOf(service.core, project)).toEqual(['1', '1', '1']);
  expect(await idsOf(service.core, project, 'postgres_logs')).toEqual(['1']);
});
