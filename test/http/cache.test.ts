import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { copyEndpointsWithEndless } from '../support/endpoints.ts';
import { get, QUERY_PATH, readMetric, request } from '../support/http.ts';
import { startTestService, storeEvents } from '../support/service.ts';

const endpoints = await copyEndpointsWithEndless();
const service = await startTestService({
  env: {
    TAILRACE_ENDPOINTS_DIR: endpoints.path,
    TAILRACE_READERS: '1',
    TAILRACE_QUERY_QUEUE_TIMEOUT_MS: '60000', // no request of these gives up on a busy machine
  },
});
afterAll(async () => {
  await service.close();
  await endpoints.remove();
});
const { url, clock, call, core } = service;
const USAGE = { endpoint: 'usage.api-counts' };

beforeAll(async () => {
  const timestamp = new Date(clock.now - 60_000).toISOString();
  const request = { path: '/rest/v1', url: 'https://p1.example.com/rest/v1' };
  const edge = { id: 'edge', timestamp, project: 'p1', metadata: { request } };
  await storeEvents(core, 'cloudflare.logs.prod', [edge], clock.now);
});

const queries = (labels: Readonly<Record<string, string>>) =>
  readMetric(url, 'tailrace_engine_queries_total', labels);

async function cacheHeaders(endpoint: string, parameters: Readonly<Record<string, string>>) {
  const { status, headers } = await call(endpoint, parameters);
  expect(status).toBe(200);
  return [headers.get('cache-status'), headers.get('age')];
}

describe('Cache-Status and Age', () => {
  test('tell a miss, then hits with their age and what is left of 900 seconds, then a miss', async () => {
    const ask = () => cacheHeaders('usage.api-counts', { project: 'ages', interval: 'hourly' });
    const start = clock.now;
    const at = (ms: number) => {
      clock.now = start + ms;
      return ask();
    };
    expect(await at(0)).toEqual(['Tailrace; fwd=miss; stored', '0']);
    expect(await at(999)).toEqual(['Tailrace; hit; ttl=900', '0']);
    expect(await at(1000)).toEqual(['Tailrace; hit; ttl=899', '1']);
    expect(await at(200_000)).toEqual(['Tailrace; hit; ttl=700', '200']);
  });

  test('tell that an endpoint without caching passes the cache by, each time', async () => {
    // The first page of a question may take two queries, of a stretch of time and then of all: see newest-first.ts.
    await cacheHeaders('logs.all', { project: 'p1' });
    const before = await queries({ endpoint: 'logs.all' });
    for (let i = 0; i < 3; i++)
      expect(await cacheHeaders('logs.all', { project: 'p1' })).toEqual(['Tailrace; fwd=bypass', '0']);
    expect((await queries({ endpoint: 'logs.all' })) - before).toBe(3);
  });

  test('are one entry by UUID and by name', async () => {
    const parameters = { project: 'either', interval: 'hourly' };
    expect(await cacheHeaders('usage.api-counts', parameters)).toEqual(['Tailrace; fwd=miss; stored', '0']);
    expect(await cacheHeaders('E1B1B652-4ea8-4b47-94ba-ad2938bd0675', parameters)).toEqual([
      'Tailrace; hit; ttl=900',
      '0',
    ]);
  });

  test('are not sent with errors, which are never kept', async () => {
    const before = await queries(USAGE);
    for (let i = 0; i < 2; i++) {
      const { status, headers } = await call('usage.api-counts', { project: '(', interval: 'hourly' });
      expect([status, headers.get('cache-status'), headers.get('age')]).toEqual([400, null, null]);
    }
    expect((await queries(USAGE)) - before).toBe(2);
  });
});

/** Keeps the only reader busy until it is released, so that everything asked meanwhile is asked at once. */
async function holdReader() {
  const controller = new AbortController();
  const { signal } = controller;
  request(url, `${QUERY_PATH}/endless.plain?project=p1`, { signal }).catch(() => {}); // ends by its abort
  await vi.waitFor(() => expect(core.engine.gauges().running).toBe(1), { timeout: 30_000 });
  return () => controller.abort();
}

/** Sends requests while the reader is held; releases it when all have come in. */
async function askAtOnce(count: number, path: string) {
  const release = await holdReader();
  let arrived = 0;
  const all = new Promise<void>((resolve) => {
    const onRequest = () => {
      if (++arrived < count) return;
      service.service.app.server.off('request', onRequest);
      resolve();
    };
    service.service.app.server.on('request', onRequest);
  });
  const answers = Array.from({ length: count }, () => get(url, path));
  await all;
  release();
  return await Promise.all(answers);
}

describe('identical requests at once', () => {
  test('a thousand of them are one query of the engine, and every one is answered', async () => {
    const before = await queries(USAGE);
    const answers = await askAtOnce(1000, `${QUERY_PATH}/usage.api-counts?project=p1&interval=minutely`);
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(answers[0]?.body.result).toMatchObject([{ total_rest_requests: 1 }]);
    const outcomes = answers.map((answer) => answer.headers.get('cache-status'));
    expect(outcomes.filter((outcome) => outcome === 'Tailrace; fwd=miss; stored')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'Tailrace; fwd=miss; collapsed')).toHaveLength(999);
    expect((await queries(USAGE)) - before).toBe(1);
  });

  test('each is a query of its own where the endpoint is not cached', async () => {
    const before = await queries({ endpoint: 'logs.all' });
    const answers = await askAtOnce(50, `${QUERY_PATH}/logs.all?project=p1`);
    for (const { status, body, headers } of answers) {
      expect([status, body.result.length]).toEqual([200, 1]);
      expect(headers.get('cache-status')).toBe('Tailrace; fwd=bypass');
    }
    expect((await queries({ endpoint: 'logs.all' })) - before).toBe(50);
  });
});

describe('warming', () => {
  const refreshes = (result: string) =>
    readMetric(url, 'tailrace_cache_refreshes_total', { ...USAGE, result });
  const ask = () => cacheHeaders('usage.api-counts', { project: 'warm', interval: 'daily' });

  /** Moves the clock; resolves when the service has refreshed what was due. */
  async function passSeconds(seconds: number, result: string): Promise<void> {
    const before = await refreshes(result);
    clock.now += seconds * 1000;
    await vi.waitFor(async () => expect(await refreshes(result)).toBeGreaterThan(before), {
      timeout: 10_000,
    });
  }

  test('refreshes an answer after 300 seconds, so that the next caller finds it fresh', async () => {
    expect(await ask()).toEqual(['Tailrace; fwd=miss; stored', '0']);
    await passSeconds(300, 'done');
    await vi.waitFor(async () => expect(await ask()).toEqual(['Tailrace; hit; ttl=900', '0']), {
      timeout: 10_000,
    });
  });

  test('that fails keeps the good answer for the rest of its life, and no longer', async () => {
    await core.engine.command('RENAME TABLE edge_logs TO edge_logs_away');
    await passSeconds(300, 'failed');
    expect(await ask()).toEqual(['Tailrace; hit; ttl=600', '300']);
    clock.now += 599_000;
    expect(await ask()).toEqual(['Tailrace; hit; ttl=1', '899']);
    clock.now += 1000;
    const { status } = await call('usage.api-counts', { project: 'warm', interval: 'daily' });
    expect(status).toBe(422);
    await core.engine.command('RENAME TABLE edge_logs_away TO edge_logs');
    expect(await ask()).toEqual(['Tailrace; fwd=miss; stored', '0']);
  });
});
