import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { findProgram } from '../../scripts/programs.js';
import { startClickHouseFront } from '../../trial/clickhouse-front.ts';
import { startRedis, type TestRedis } from '../../trial/redis.ts';
import { expectError, get, QUERY_PATH, readMetric } from '../support/http.ts';
import { startTestService, storeEvents, temporaryFolder } from '../support/service.ts';

const USAGE = `${QUERY_PATH}/usage.api-counts?project=p1&interval=hourly`;
/** Of the user that docs/scaling.md tells to make. */
const RIGHTS = /`(~tailrace:\*[^`]+)`/;
const PASSWORD = 'a-password-of-redis';

type Service = Awaited<ReturnType<typeof startTestService>>;

describe.skipIf(findProgram('redis-server') === undefined)(
  'two replicas over one server and one Redis',
  () => {
    let redis: TestRedis;
    let front: Awaited<ReturnType<typeof startClickHouseFront>>;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let a: Service;
    let b: Service;
    const lines: string[] = [];

    beforeAll(async () => {
      redis = await startRedis();
      const rights = RIGHTS.exec(await readFile('docs/scaling.md', 'utf8'))?.[1] ?? '';
      const user = ['on', `>${PASSWORD}`, ...rights.split(' ')];
      await (await redis.client()).aclSetUser('tailrace', user);
      folder = await temporaryFolder();
      front = await startClickHouseFront(join(folder.path, 'clickhouse'));
      const env = {
        CLICKHOUSE_URL: front.url,
        TAILRACE_REDIS_URL: `${redis.url.replace('//', `//tailrace:${PASSWORD}@`)}/0`,
        TAILRACE_TOKEN_SECRET: 'a secret that all replicas have'.replaceAll(' ', '-').padEnd(32, '-'),
        TAILRACE_RATE_PER_SECOND: '1',
        TAILRACE_RATE_BURST: '2000',
      };
      const now = Date.now();
      a = await startTestService({ env, now, logger: pino({}, { write: (line) => void lines.push(line) }) });
      b = await startTestService({ env, now });
      await waitUp(1);
      const metadata = { request: { path: '/rest/v1', url: 'https://p1.example.com/rest/v1' } };
      const timestamp = new Date(now - 60_000).toISOString();
      const event = { id: 'edge', timestamp, project: 'p1', metadata };
      await storeEvents(a.core, 'cloudflare.logs.prod', [event], now);
    });
    afterAll(async () => {
      await a?.close();
      await b?.close();
      await front?.close();
      await redis?.remove();
      await folder?.remove();
    });

    const sum = async (name: string, labels: Readonly<Record<string, string>> = {}) =>
      (await readMetric(a.url, name, labels)) + (await readMetric(b.url, name, labels));
    const waitUp = (up: 0 | 1) =>
      vi.waitFor(async () => expect(await sum('tailrace_redis_up')).toBe(2 * up), { timeout: 30_000 });
    const queries = () => sum('tailrace_engine_queries_total', { endpoint: 'usage.api-counts' });

    test('a thousand identical requests spread over both are one query', async () => {
      const before = await queries();
      const asked = Array.from({ length: 1_000 }, (_, i) => get(i % 2 === 0 ? a.url : b.url, USAGE));
      const answers = await Promise.all(asked);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(answers[0]?.body.result).toMatchObject([{ total_rest_requests: 1 }]);
      expect((await queries()) - before).toBe(1);
    });

    test('an answer of the other one says where it comes from, and is kept', async () => {
      const path = `${QUERY_PATH}/usage.api-counts?project=p2&interval=hourly`;
      const statusOf = async (url: string) => (await get(url, path)).headers.get('cache-status');
      expect(await statusOf(a.url)).toBe('Tailrace; fwd=miss; stored');
      expect(await statusOf(b.url)).toMatch(/^Tailrace; hit; ttl=(899|900); detail=shared$/);
      expect(await sum('tailrace_shared_cache_lookups_total', { result: 'hit' })).toBeGreaterThan(0);
      expect(await statusOf(b.url)).toMatch(/^Tailrace; hit; ttl=(899|900)$/);
    });

    test('the rate of a key holds over both, also for cached answers', async () => {
      const remaining = async (url: string) =>
        Number((await get(url, USAGE)).headers.get('ratelimit-remaining'));
      const startMs = Date.now();
      const first = await remaining(a.url);
      let last = first;
      for (let i = 0; i < 20; i++) last = await remaining(i % 2 === 0 ? b.url : a.url);
      const refilledMax = Math.ceil((Date.now() - startMs) / 1_000); // the rate is 1 a second
      // With a bucket each, either of them would have lost no more than half.
      expect(last).toBeGreaterThanOrEqual(first - 20);
      expect(last).toBeLessThanOrEqual(first - 20 + refilledMax);
    });

    test('a key beyond its rate is refused by both', async () => {
      const { key } = await a.service.keyring.create({
        name: 'one',
        scopes: ['query'],
        rate: { perSecond: 0.01, burst: 2 },
      });
      const ask = () => get(a.url, USAGE, { 'x-api-key': key });
      expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
      expectError(await ask(), 'rate_limited');
      expect(await sum('tailrace_rate_local_total')).toBe(0);
      expect(await sum('tailrace_redis_failures_total')).toBe(0);
    });

    test('without Redis both go on, each by itself, which is said once and counted', async () => {
      await redis.kill();
      await waitUp(0);
      const path = `${QUERY_PATH}/usage.api-counts?project=p3&interval=hourly`;
      for (const url of [a.url, b.url, a.url]) expect((await get(url, path)).status).toBe(200);
      expect(await sum('tailrace_rate_local_total')).toBeGreaterThan(0);
      expect(lines.filter((line) => line.includes('Redis is unavailable'))).toHaveLength(1);
      expect(lines.join('')).not.toContain(PASSWORD);
    });
  },
);
