import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { addEndpoint } from '../../trial/endpoint.ts';
import { copyEndpointsWithEndless } from '../support/endpoints.ts';
import { expectError, get, QUERY_PATH, request } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

const SLOW_SECONDS = 0.2;
const RATE_PER_SECOND = 500;
const MS_PER_TOKEN = 1_000 / RATE_PER_SECOND;
const endpoints = await copyEndpointsWithEndless();
for (const [name, last, caching] of [
  ['slow.plain', 3, 'disabled'],
  ['slow.cached', 4, 900],
] as const) {
  // It sleeps instead of computing, so that the machine has time for the others: this is about the queue.
  const sql = `SELECT toInt64(sum(sleepEachRow(${SLOW_SECONDS}))) AS n FROM numbers(1) WHERE @project != ''`;
  await addEndpoint(endpoints.path, { name, id: `a0000000-0000-4000-8000-00000000000${last}`, sql, caching });
}
const service = await startTestService({
  env: {
    TAILRACE_ENDPOINTS_DIR: endpoints.path,
    TAILRACE_READERS: '2',
    TAILRACE_QUERY_QUEUE_PER_KEY_MAX: '8',
    TAILRACE_QUERY_QUEUE_PER_TOKEN_MAX: '4',
    TAILRACE_QUERY_QUEUE_TIMEOUT_MS: '1500',
    TAILRACE_RATE_PER_SECOND: String(RATE_PER_SECOND),
    TAILRACE_RATE_BURST: '60',
  },
});
afterAll(async () => {
  await service.close();
  await endpoints.remove();
});
const { url, clock } = service;
const { gauges } = service.core.engine;
const newKey = async (name: string) =>
  (await service.service.keyring.create({ name, scopes: ['query'] })).key;
const ask = (key: string, path: string) => get(url, `${QUERY_PATH}/${path}`, { 'x-api-key': key });
const untilEngine = (running: number, queued: number) =>
  vi.waitFor(() => expect(gauges()).toMatchObject({ running, queued }), { timeout: 30_000 });

/** A call that ends only when its caller hangs up. */
function callEndless(key: string) {
  const controller = new AbortController();
  const init = { headers: { 'x-api-key': key }, signal: controller.signal };
  const ended = request(url, `${QUERY_PATH}/endless.plain?project=p1`, init).catch(() => 'hung up');
  return {
    async hangUp() {
      controller.abort();
      await ended;
    },
  };
}

/** Those that a failed test has left end before the service does. */
const floods = new Set<{ stop(): Promise<unknown> }>();
afterEach(async () => {
  for (const flood of floods) await flood.stop();
  floods.clear();
});

/**
 * Many connections that ask for slow answers without pause, until `stop`; how often each status came back.
 * `tokens`: what each request gives back to the key's rate; with half a token the rate is one of two requests.
 */
function startFlood(key: string, connections: number, tokens = 0.5) {
  const counts = new Map<number, number>();
  let stopped = false;
  let asked = 0;
  const connection = async () => {
    while (!stopped) {
      const { status } = await ask(key, `slow.plain?project=p${asked++}`);
      counts.set(status, (counts.get(status) ?? 0) + 1);
      clock.now += tokens * MS_PER_TOKEN;
      await pause(20); // so that the test's own loop has time for the others
    }
  };
  const ended = Promise.all(Array.from({ length: connections }, connection));
  const flood = {
    async stop() {
      stopped = true;
      await ended;
      return counts;
    },
  };
  floods.add(flood);
  return flood;
}

describe('a key that floods the service with slow queries', () => {
  test('is turned away with 503 and 429, while every request of another is answered', async () => {
    const [flooder, other] = [await newKey('flooder'), await newKey('other')];
    const flood = startFlood(flooder, 20);
    await vi.waitFor(() => expect(gauges()).toMatchObject({ running: 1, queued: 8 }), { timeout: 30_000 });
    for (let i = 0; i < 20; i++) {
      const answer = await ask(other, `logs.all?project=p${i}`);
      expect([answer.status, answer.text]).toEqual([200, '{"result":[]}']);
    }
    const counts = await flood.stop();
    expect([...counts.keys()].toSorted()).toEqual([200, 429, 503]);
    expect(counts.get(503)).toBeGreaterThan(counts.get(200) ?? 0);
    await untilEngine(0, 0);
    clock.now += 1_000;
    expect((await ask(flooder, 'slow.plain?project=after')).status).toBe(200);
  });

  test('delays nobody by hanging up: what it began counts until it has ended', async () => {
    const [flooder, other] = [await newKey('hanging up'), await newKey('other')];
    let stopped = false;
    const connection = async () => {
      while (!stopped) {
        const headers = { 'x-api-key': flooder };
        const signal = AbortSignal.timeout(30);
        await request(url, `${QUERY_PATH}/endless.plain?project=p1`, { headers, signal }).catch(() => {});
        clock.now += 100;
      }
    };
    const ended = Promise.all(Array.from({ length: 4 }, connection));
    for (let i = 0; i < 20; i++) {
      expect((await ask(other, `logs.all?project=p${i}`)).status).toBe(200);
      expect(gauges().running).toBeLessThanOrEqual(2);
    }
    stopped = true;
    await ended;
    await untilEngine(0, 0);
  });

  test('still gets what is in the cache, past the queue', async () => {
    const flooder = await newKey('flooder');
    const path = 'usage.api-counts?project=p1&interval=daily';
    expect((await ask(flooder, path)).status).toBe(200);
    const flood = startFlood(flooder, 12);
    await vi.waitFor(() => expect(gauges().queued).toBe(8), { timeout: 30_000 });
    const answer = await ask(flooder, path);
    expect([answer.status, answer.headers.get('cache-status')]).toEqual([
      200,
      expect.stringContaining('hit'),
    ]);
    await flood.stop();
    await untilEngine(0, 0);
  });

  test('does not hold up another that asks for the same', async () => {
    const [flooder, other] = [await newKey('flooder'), await newKey('other')];
    const flood = Array.from({ length: 8 }, () => callEndless(flooder));
    await untilEngine(1, 7);
    const shared = ask(flooder, 'slow.cached?project=p1');
    await untilEngine(1, 8);
    // In the flooder's turn it would wait for queries that never end.
    const joined = await ask(other, 'slow.cached?project=p1');
    expect([joined.status, joined.headers.get('cache-status')]).toEqual([
      200,
      expect.stringContaining('collapsed'),
    ]);
    expect((await shared).status).toBe(200);
    for (const call of flood) await call.hangUp();
    await untilEngine(0, 0);
  });
});

test('a query that waits too long for its turn is answered 503, saying when to come back', async () => {
  const flooder = await newKey('flooder');
  const endless = callEndless(flooder);
  await untilEngine(1, 0);
  const late = await ask(flooder, 'logs.all?project=p1');
  expectError(late, 'overloaded');
  expect(late.body.error.message).toContain('waited 1500 ms');
  expect(late.headers.get('retry-after')).toBe('2');
  await endless.hangUp();
  await untilEngine(0, 0);
});

test('a token that floods its key with slow queries is turned away, while another token of the key is answered', async () => {
  const key = await newKey('front end');
  const mint = async () => {
    const answer = await request(url, '/api/tokens', { method: 'POST', headers: { 'x-api-key': key } });
    return String((JSON.parse(answer.text) as { token: unknown }).token);
  };
  const [flooder, other] = [await mint(), await mint()];
  // Both share the key's rate, which is not what this is about: it is never used up.
  const flood = startFlood(flooder, 10, 2);
  await vi.waitFor(() => expect(gauges()).toMatchObject({ running: 1, queued: 4 }), { timeout: 30_000 });
  for (let i = 0; i < 5; i++) expect((await ask(other, `logs.all?project=p${i}`)).status).toBe(200);
  const counts = await flood.stop();
  expect(counts.get(503)).toBeGreaterThan(0);
  await untilEngine(0, 0);
});
