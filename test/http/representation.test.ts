import { request as httpRequest, type IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { QUERY_PATH, readMetric } from '../support/http.ts';
import { PRIVATE_KEY, startTestService, storeEvents } from '../support/service.ts';

const service = await startTestService();
afterAll(service.close);
const { url, clock, core } = service;
const CACHED = `${QUERY_PATH}/usage.api-counts?project=p1&interval=minutely`;
const UNCACHED = `${QUERY_PATH}/logs.all?project=p1`;

beforeAll(async () => {
  const events = Array.from({ length: 59 }, (_, i) => ({
    id: `e${i}`,
    project: 'p1',
    timestamp: clock.now - i * 60_000,
    metadata: { request: { path: '/rest/v1', url: 'https://p1.example/rest/v1' } },
  }));
  await storeEvents(core, 'cloudflare.logs.prod', events, clock.now);
});

interface RawAnswer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** The bytes as they come, which `fetch` would decompress. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<RawAnswer> {
  const options = { method, headers: { 'x-api-key': PRIVATE_KEY, ...headers } };
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}${path}`, options, async (answer) => {
      const chunks: Buffer[] = await answer.toArray();
      resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks) });
    });
    request.on('error', reject).end();
  });
}

const queries = () => readMetric(url, 'tailrace_engine_queries_total', { endpoint: 'usage.api-counts' });

describe('an answer', () => {
  test.each([
    ['gzip', 'gzip', gunzipSync],
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip, deflate, br, zstd', 'zstd', zstdDecompressSync],
    ['*', 'zstd', zstdDecompressSync],
    ['zstd;q=0, br;q=0, gzip;q=0.1', 'gzip', gunzipSync],
  ])('to a caller that takes %s is in %s', async (accepted, encoding, decompress) => {
    for (const path of [CACHED, UNCACHED]) {
      const plain = await ask(path);
      const { status, headers, body } = await ask(path, { 'accept-encoding': accepted });
      expect([status, headers['content-encoding']]).toEqual([200, encoding]);
      expect(headers['content-length']).toBe(String(body.length));
      expect(headers.vary).toContain('Accept-Encoding');
      expect(decompress(body).toString()).toBe(plain.body.toString());
      expect(body.length).toBeLessThan(plain.body.length / 3);
      expect(headers.etag).not.toBe(plain.headers.etag);
    }
  });

  test.each(['identity', 'deflate', 'gzip;q=0', ''])(
    'to a caller that takes %o is as it is',
    async (accepted) => {
      const { headers, body } = await ask(CACHED, { 'accept-encoding': accepted });
      expect(headers['content-encoding']).toBeUndefined();
      expect(JSON.parse(body.toString()).result).toHaveLength(59);
    },
  );

  test('to HEAD has the length that GET would have', async () => {
    const { headers, body } = await ask(CACHED, { 'accept-encoding': 'gzip' }, 'HEAD');
    const got = await ask(CACHED, { 'accept-encoding': 'gzip' });
    expect([body.length, headers['content-length']]).toEqual([0, String(got.body.length)]);
  });

  test('tells how long it may be kept, and by whom', async () => {
    expect((await ask(CACHED)).headers['cache-control']).toBe('private, max-age=900');
    expect((await ask(UNCACHED)).headers['cache-control']).toBe('private, no-store');
  });
});

describe('a caller that has the answer', () => {
  test.each([CACHED, UNCACHED])('is told so, in every encoding: %s', async (path) => {
    for (const encoding of ['identity', 'gzip', 'zstd']) {
      const { headers } = await ask(path, { 'accept-encoding': encoding });
      const again = await ask(path, { 'accept-encoding': encoding, 'if-none-match': `"x", ${headers.etag}` });
      expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, headers.etag]);
      expect(again.headers['content-type']).toBeUndefined();
    }
  });

  test.each(['no-cache', 'max-age=0', 'no-store'])(
    'and asks for a new one with %s, is told so if it is the same',
    async (control) => {
      const { headers } = await ask(CACHED);
      const before = await queries();
      const conditions = { 'if-none-match': String(headers.etag), 'cache-control': control };
      const again = await ask(CACHED, conditions);
      expect([again.status, again.headers.etag]).toEqual([304, headers.etag]);
      expect((await queries()) - before).toBe(1);
      expect((await ask(CACHED, { ...conditions, 'if-none-match': '"another"' })).status).toBe(200);
    },
  );

  test.each([CACHED, UNCACHED])('and asks with fetch, which adds no-cache, is told so: %s', async (path) => {
    const headers = { 'x-api-key': PRIVATE_KEY, 'accept-encoding': 'identity' };
    const etag = String((await ask(path, headers)).headers.etag);
    const answer = await fetch(service.url + path, { headers: { ...headers, 'if-none-match': etag } });
    expect([answer.status, answer.headers.get('etag')]).toEqual([304, etag]);
  });

  test('or another one, gets it', async () => {
    expect((await ask(CACHED, { 'if-none-match': '"another"' })).status).toBe(200);
  });

  test('and sends a POST all the same, gets it', async () => {
    const { headers } = await ask(CACHED);
    const answer = await ask(CACHED, { 'if-none-match': String(headers.etag) }, 'POST');
    expect(answer.status).toBe(200);
  });

  test('and a wrong key learns nothing', async () => {
    const { headers } = await ask(CACHED);
    const answer = await ask(CACHED, { 'x-api-key': 'wrong', 'if-none-match': String(headers.etag) });
    expect(answer.status).toBe(401);
  });
});

describe('Cache-Control of a request', () => {
  test.each(['no-cache', 'max-age=0', 'No-Cache, foo=1', 'foo, max-age="0"'])(
    '%s asks for an answer of now',
    async (control) => {
      await ask(CACHED);
      const before = await queries();
      const { headers } = await ask(CACHED, { 'cache-control': control });
      expect([headers['cache-status'], headers.age]).toEqual(['Tailrace; fwd=miss; stored', '0']);
      expect((await queries()) - before).toBe(1);
    },
  );

  test.each(['max-age=31536000', 'max-age=x', 'only-if-cached', ''])(
    '%o takes what is kept',
    async (control) => {
      await ask(CACHED);
      const before = await queries();
      const { headers } = await ask(CACHED, { 'cache-control': control });
      expect(headers['cache-status']).toMatch(/^Tailrace; hit/);
      expect((await queries()) - before).toBe(0);
    },
  );
});
