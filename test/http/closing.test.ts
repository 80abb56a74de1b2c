import { connect, type Socket } from 'node:net';
import { afterAll, expect, test, vi } from 'vitest';
import { copyEndpointsWithEndless } from '../support/endpoints.ts';
import { expectError, get, QUERY_PATH } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

const endpoints = await copyEndpointsWithEndless();
afterAll(endpoints.remove);

const start = (shutdownTimeoutMs: number) =>
  startTestService({
    env: {
      TAILRACE_ENDPOINTS_DIR: endpoints.path,
      TAILRACE_SHUTDOWN_TIMEOUT_MS: String(shutdownTimeoutMs),
    },
  });

/** A connection that has sent `bytes` and has been accepted. */
async function openConnection(
  url: string,
  bytes: string,
): Promise<{ socket: Socket; closed: Promise<void> }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.resume();
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  await new Promise<void>((resolve) => void socket.once('connect', () => resolve()));
  if (bytes !== '') await new Promise((resolve) => socket.write(bytes, resolve));
  await get(url, '/health'); // the service has gone round its loop since
  return { socket, closed };
}

test('closing waits for a request that is half sent only as long as the bound', async () => {
  const service = await start(200);
  const { closed } = await openConnection(service.url, `GET ${QUERY_PATH}/logs.all HTTP/1.1\r\nHost: a\r\n`);
  await service.close();
  await closed;
});

test('what runs at the bound is stopped and told so; what comes later is not let in', async () => {
  const service = await start(200);
  const running = get(service.url, `${QUERY_PATH}/endless.plain?project=p1`);
  await vi.waitFor(() => expect(service.core.engine.gauges().running).toBe(1), 60_000);
  await service.close();
  expectError(await running, 'engine_unavailable');
  await expect(get(service.url, '/health')).rejects.toThrow('fetch failed');
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
