import { afterAll, expect, test } from 'vitest';
import { startTestService, storeEvents } from './support/service.ts';

const service = await startTestService();
afterAll(service.close);

test('answers all three endpoints by name', async () => {
  const timestamp = new Date(service.clock.now - 60_000).toISOString();
  await storeEvents(
    service.core,
    'cloudflare.logs.prod',
    [{ id: 'a', timestamp, project: 'p1', metadata: { request: { path: '/rest/v1' } } }],
    service.clock.now,
  );
  expect((await service.call('logs.all', { project: 'p1' })).body.result).toHaveLength(1);
  expect(
    (await service.call('usage.api-counts', { project: 'p1', interval: 'daily' })).body.result,
  ).toHaveLength(1);
  expect((await service.call('functions.invocation-stats', { project: 'p1' })).body).toEqual({ result: [] });
});
