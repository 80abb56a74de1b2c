import type { RequestListener } from 'node:http';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { copyEndpointsWithEndless } from '../support/endpoints.ts';
import { expectError, get, QUERY_PATH, readMetric, request } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

const endpoints = await copyEndpointsWithEndless();
const env = { TAILRACE_ENDPOINTS_DIR: endpoints.path, TAILRACE_READERS: '1', TAILRACE_QUERY_QUEUE_MAX: '1' };
const service = await startTestService({ env });
afterAll(async () => {
  await service.close();
  await endpoints.remove();
});
const { url } = service;

/** A call that ends only when its caller hangs up. */
function callEndless(endpoint: string, project: string) {
  const controller = new AbortController();
  const path = `${QUERY_PATH}/${endpoint}?project=${project}`;
  const ended = request(url, path, { signal: controller.signal }).then(
    (answer) => answer.status,
    () => 'hung up' as const,
  );
  return {
    ended,
    async hangUp() {
      controller.abort();
      expect(await ended).toBe('hung up');
    },
  };
}

const untilEngine = (running: number, queued: number) =>
  vi.waitFor(() => expect(service.core.engine.gauges()).toMatchObject({ running, queued }));

describe('a caller that hangs up', () => {
  test('stops its query inside the engine', async () => {
    const caller = callEndless('endless.plain', 'p1');
    await untilEngine(1, 0);
    await caller.hangUp();
    await untilEngine(0, 0);
  });

  test('leaves the queue', async () => {
    const first = callEndless('endless.plain', 'p1');
    await untilEngine(1, 0);
    const second = callEndless('endless.plain', 'p2');
    await untilEngine(1, 1);
    await second.hangUp();
    await untilEngine(1, 0);
    await first.hangUp();
    await untilEngine(0, 0);
  });

  test('leaves the others who wait for the same answer unharmed; the last to leave stops the query', async () => {
    const { server } = service.service.app;
    let waiting = 0;
    const count: RequestListener = (_request, response) => {
      waiting++;
      response.once('close', () => waiting--);
    };
    server.on('request', count);
    const callers = Array.from({ length: 5 }, () => callEndless('endless.cached', 'p1'));
    await vi.waitFor(() => expect(waiting).toBe(5));
    await untilEngine(1, 0);
    const [last, ...others] = callers;
    for (const other of others) await other.hangUp();
    await vi.waitFor(() => expect(waiting).toBe(1));
    server.off('request', count);
    // An answer that comes back shows that the service has gone round its loop and the query still runs.
    await get(url, '/health');
    expect(service.core.engine.gauges()).toMatchObject({ running: 1, queued: 0 });
    expect(await readMetric(url, 'tailrace_engine_queries_total', { endpoint: 'endless.cached' })).toBe(1);
    await last?.hangUp();
    await untilEngine(0, 0);
  });
});

test('a full queue turns calls away at once with 503, and takes them again after; cached answers are served', async () => {
  const cached = `${QUERY_PATH}/usage.api-counts?project=p1&interval=daily`;
  expect((await get(url, cached)).status).toBe(200);
  const callers = [callEndless('endless.plain', 'p1')];
  await untilEngine(1, 0);
  callers.push(callEndless('endless.plain', 'p2'));
  await untilEngine(1, 1);
  const answer = await get(url, `${QUERY_PATH}/logs.all?project=p1`);
  expectError(answer, 'overloaded');
  expect(answer.headers.get('retry-after')).toBe('1');
  expect((await get(url, cached)).headers.get('cache-status')).toContain('hit');
  for (const caller of callers) await caller.hangUp();
  await untilEngine(0, 0);
  expect((await get(url, `${QUERY_PATH}/logs.all?project=p1`)).status).toBe(200);
});
