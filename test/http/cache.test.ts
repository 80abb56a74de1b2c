import { expect, test, vi } from 'vitest';
import { readMetric } from '../support/http.ts';
import { newProject, shareService } from '../support/service.ts';

const { url, clock, call } = await shareService();

async function cacheHeaders(endpoint: string, parameters: Readonly<Record<string, string>>) {
  const { status, headers } = await call(endpoint, parameters);
  expect(status).toBe(200);
  return [headers.get('cache-status'), headers.get('age')];
}

test('Cache-Status tells that an endpoint without caching passes the cache by, each time', async () => {
  // The first page of a question may take two queries, of a stretch of time and then of all: see src/query/steps.ts.
  await cacheHeaders('logs.all', { project: 'p1' });
  const queries = () => readMetric(url, 'tailrace_engine_queries_total', { endpoint: 'logs.all' });
  const before = await queries();
  for (let i = 0; i < 3; i++)
    expect(await cacheHeaders('logs.all', { project: 'p1' })).toEqual(['Tailrace; fwd=bypass', '0']);
  expect((await queries()) - before).toBe(3);
});

test('answers are one entry by UUID and by name', async () => {
  const parameters = { project: newProject(), interval: 'hourly' };
  const hit = ['Tailrace; hit; ttl=900', '0'];
  expect(await cacheHeaders('usage.api-counts', parameters)).toEqual(['Tailrace; fwd=miss; stored', '0']);
  expect(await cacheHeaders('E1B1B652-4ea8-4b47-94ba-ad2938bd0675', parameters)).toEqual(hit);
});

test('warming refreshes an answer after 300 seconds, so that the next caller finds it fresh', async () => {
  const ofUsage = { endpoint: 'usage.api-counts', result: 'done' };
  const refreshes = () => readMetric(url, 'tailrace_cache_refreshes_total', ofUsage);
  const parameters = { project: newProject(), interval: 'daily' };
  const ask = () => cacheHeaders('usage.api-counts', parameters);
  expect(await ask()).toEqual(['Tailrace; fwd=miss; stored', '0']);
  const before = await refreshes();
  clock.now += 300_000;
  await vi.waitFor(async () => expect(await refreshes()).toBeGreaterThan(before), 60_000);
  await vi.waitFor(async () => expect(await ask()).toEqual(['Tailrace; hit; ttl=900', '0']), 60_000);
});
