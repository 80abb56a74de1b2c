import { afterAll, describe, expect, test, vi } from 'vitest';
import { readMetric } from '../support/http.ts';
import { post } from '../support/ingest.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService({ now: Date.parse('2026-11-20T12:00:30.000Z') });
afterAll(service.close);
const { url, clock, call } = service;
const USAGE = { endpoint: 'usage.api-counts' };

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

describe('warming', () => {
  const refreshes = (result: string) =>
    readMetric(url, 'tailrace_cache_refreshes_total', { ...USAGE, result });
  const ask = () => cacheHeaders('usage.api-counts', { project: 'warm', interval: 'daily' });

  /** Moves the clock; resolves when the service has refreshed what was due. */
  async function passSeconds(seconds: number, result: string): Promise<void> {
    const before = await refreshes(result);
    clock.now += seconds * 1000;
    await vi.waitFor(async () => expect(await refreshes(result)).toBeGreaterThan(before), 60_000);
  }

  test('refreshes an answer after 300 seconds, so that the next caller finds it fresh', async () => {
    expect(await ask()).toEqual(['Tailrace; fwd=miss; stored', '0']);
    await passSeconds(300, 'done');
    await vi.waitFor(async () => expect(await ask()).toEqual(['Tailrace; hit; ttl=900', '0']), 60_000);
  });
});

test('a stale response is computed from what still holds, and whole with no-cache', async () => {
  const DAY = 86_400_000;
  const endpoint = 'functions.invocation-stats';
  const send = async (agoMs: number) => {
    const metadata = { project_ref: 'p1', execution_time_ms: 1.5 };
    const event = { timestamp: new Date(clock.now - agoMs).toISOString(), event_message: '', metadata };
    expect((await post(url, '/api/logs?source_name=deno-relay-logs', [event])).status).toBe(200);
  };
  const recomputed = (extent: string) =>
    readMetric(url, 'tailrace_cache_recomputed_total', { endpoint, extent });
  const counts = async (headers: Record<string, string> = {}) =>
    (await call(endpoint, { project: 'p1', interval: '7day' }, headers)).body.result.map(
      (row) => row['count'],
    );
  for (const daysAgo of [0, 1, 5]) await send(daysAgo * DAY);
  expect(await counts()).toEqual([1, 1, 1]);
  await send(5 * DAY);
  await send(10);
  clock.now += 901_000;
  expect(await counts()).toEqual([2, 1, 2]);
  expect([await recomputed('incremental'), await recomputed('full')]).toEqual([1, 0]);
  const before = await queries({ endpoint });
  expect(await counts({ 'cache-control': 'no-cache' })).toEqual([2, 1, 2]);
  expect(await queries({ endpoint })).toBe(before + 1);
  expect(await recomputed('incremental')).toBe(1);
});
