import { expect, test, vi } from 'vitest';
import { addEndpoint } from '../../trial/endpoint.ts';
import { copyEndpoints, ENDLESS_SQL } from '../support/endpoints.ts';
import { expectError, get, openRaw, QUERY_PATH, request } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

const endpoints = await copyEndpoints();
for (const endpoint of [
  { name: 'endless.plain', id: 'a0000000-0000-4000-8000-000000000001', caching: 'disabled' },
  { name: 'endless.cached', id: 'a0000000-0000-4000-8000-000000000002', caching: 900 },
] as const)
  await addEndpoint(endpoints, { ...endpoint, sql: ENDLESS_SQL });

const start = (shutdownTimeoutMs: number) =>
  startTestService({ env: { TAILRACE_ENDPOINTS_DIR: endpoints }, bounds: { shutdownTimeoutMs } });

test('the last caller that hangs up stops its query; at the bound what runs is stopped and told so, half a request is left', async () => {
  const service = await start(200);
  const { url, core } = service;
  const untilRunning = (running: number) =>
    vi.waitFor(() => expect(core.engine.gauges()).toMatchObject({ running, queued: 0 }), 60_000);
  for (const endpoint of ['endless.plain', 'endless.cached']) {
    const caller = new AbortController();
    const path = `${QUERY_PATH}/${endpoint}?project=p1`;
    const asked = request(url, path, { signal: caller.signal });
    await untilRunning(1);
    caller.abort();
    await expect(asked).rejects.toThrow();
    await untilRunning(0);
  }
  const { socket, closed } = await openRaw(url);
  socket.write(`GET ${QUERY_PATH}/logs.all HTTP/1.1\r\nHost: a\r\n`);
  const running = get(url, `${QUERY_PATH}/endless.plain?project=p1`);
  await untilRunning(1);
  await service.close();
  await closed;
  expectError(await running, 'engine_unavailable');
  await expect(get(url, '/health')).rejects.toThrow('fetch failed');
});

test('what ends before the bound is answered in full', async () => {
  const service = await start(600_000);
  const { server } = service.service.app;
  const arrived = new Promise((resolve) => server.once('request', resolve));
  const running = get(service.url, `${QUERY_PATH}/usage.api-counts?project=p1&interval=daily`);
  await arrived;
  await service.close();
  expect([(await running).status, (await running).text]).toEqual([200, '{"result":[]}']);
});
