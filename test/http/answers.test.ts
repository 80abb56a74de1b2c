import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { edgeEvents } from '../support/events.ts';
import { EDGE, get, QUERY_PATH, readMetric } from '../support/http.ts';
import { newProject, PRIVATE_KEY, shareService, storeEvents } from '../support/service.ts';
import { createWays } from '../support/ways.ts';

const service = await shareService();
const { url, clock, core, call } = service;
const project = newProject();
const CACHED = `${QUERY_PATH}/usage.api-counts?project=${project}&interval=minutely`;
const UNCACHED = `${QUERY_PATH}/logs.all?project=${project}`;

const ways = createWays(service, CACHED);
/** The bytes as they come, which `fetch` would decompress. */
const ask = (path: string, headers: Record<string, string> = {}) => ways.ask(headers, { path });

await storeEvents(core, EDGE, edgeEvents(59, project, 60_000), clock.now);

test.each([
  ['gzip, deflate, br', 'br', brotliDecompressSync],
  ['*', 'zstd', zstdDecompressSync],
  ['zstd;q=0, br;q=0, gzip;q=0.1', 'gzip', gunzipSync],
])('a response to a caller that accepts %s is in %s', async (accepted, encoding, decompress) => {
  for (const path of [CACHED, UNCACHED]) {
    const plain = await ask(path);
    const { status, headers, body } = await ask(path, { 'accept-encoding': accepted });
    expect([status, headers['content-encoding']]).toEqual([200, encoding]);
    expect(headers['content-length']).toBe(String(body.length));
    expect(headers.vary).toContain('Accept-Encoding');
    expect(decompress(body).toString()).toBe(plain.body.toString());
    expect(headers.etag).not.toBe(plain.headers.etag);
  }
});

test.each([CACHED, UNCACHED])(
  'a caller that has the response gets 304, in every encoding: %s',
  async (path) => {
    for (const encoding of ['identity', 'gzip', 'zstd']) {
      const { headers } = await ask(path, { 'accept-encoding': encoding });
      const again = await ask(path, { 'accept-encoding': encoding, 'if-none-match': `"x", ${headers.etag}` });
      expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, headers.etag]);
      expect(again.headers['content-type']).toBeUndefined();
    }
    // fetch() adds no-cache to a condition.
    const own = { 'x-api-key': PRIVATE_KEY, 'accept-encoding': 'identity' };
    const etag = String((await ask(path, own)).headers.etag);
    const fetched = await fetch(url + path, { headers: { ...own, 'if-none-match': etag } });
    expect([fetched.status, fetched.headers.get('etag')]).toEqual([304, etag]);
  },
);

test('the request id is the one that was sent, if it is safe to repeat', async () => {
  const idOf = async (given?: string) => {
    const { headers } = await get(url, UNCACHED, given === undefined ? {} : { 'x-request-id': given });
    return headers.get('x-request-id');
  };
  for (const given of ['A-b_c.1', 'x'.repeat(100)]) expect(await idOf(given)).toBe(given);
  const created: unknown[] = [];
  for (const given of [undefined, '', 'x'.repeat(101), 'two words', '<script>', '{"a":1}'])
    created.push(await idOf(given));
  for (const id of created) expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/);
  expect(new Set(created).size).toBe(created.length);
});

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
