import { afterAll, expect, test } from 'vitest';
import { readMetric, request } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService({ now: Date.parse('2026-11-20T12:00:30.000Z') });
afterAll(service.close);
const { url, clock, call } = service;
const ENDPOINT = 'functions.invocation-stats';
const QUESTION = { project: 'p1', interval: '7day' };

async function send(agoMs: number): Promise<void> {
  const metadata = { project_ref: 'p1', execution_time_ms: 1.5 };
  const events = [{ timestamp: new Date(clock.now - agoMs).toISOString(), event_message: '', metadata }];
  const response = await request(url, '/api/logs?source_name=deno-relay-logs', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(events),
  });
  expect(response.status, response.text).toBe(200);
}

const recomputed = (extent: string) =>
  readMetric(url, 'tailrace_cache_recomputed_total', { endpoint: ENDPOINT, extent });
const counts = async (headers: Record<string, string> = {}) =>
  (await call(ENDPOINT, QUESTION, headers)).body.result.map((row) => row['count']);

test('an answer past its time is made anew from what still holds, and whole for a caller who wants a query of now', async () => {
  const DAY = 86_400_000;
  for (const daysAgo of [0, 1, 5]) await send(daysAgo * DAY);
  expect(await counts()).toEqual([1, 1, 1]);
  await send(5 * DAY);
  await send(10);
  clock.now += 901_000;
  expect(await counts()).toEqual([2, 1, 2]);
  expect([await recomputed('incremental'), await recomputed('full')]).toEqual([1, 0]);
  const before = await readMetric(url, 'tailrace_engine_queries_total', { endpoint: ENDPOINT });
  expect(await counts({ 'cache-control': 'no-cache' })).toEqual([2, 1, 2]);
  expect(await readMetric(url, 'tailrace_engine_queries_total', { endpoint: ENDPOINT })).toBe(before + 1);
  expect(await recomputed('incremental')).toBe(1);
});
