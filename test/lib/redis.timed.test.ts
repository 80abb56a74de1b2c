import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { findProgram } from '../../scripts/programs.js';
import { openRedis, type Redis } from '../../src/lib/redis.ts';
import { startFaultyProxy } from '../../trial/faulty-proxy.ts';
import { startRedis, type TestRedis } from '../../trial/redis.ts';

describe.skipIf(findProgram('redis-server') === undefined)('a connection to Redis', () => {
  let server: TestRedis;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.remove());
  const opened: Redis[] = [];
  afterEach(async () => {
    for (const redis of opened.splice(0)) redis.close();
    await server.kill();
    await server.start();
  });

  function open(url = server.url) {
    const told: string[] = [];
    const redis = openRedis(url, {
      onUp: () => told.push('up'),
      onDown: () => told.push('away'),
      onFailure: () => told.push('failure'),
    });
    opened.push(redis);
    return { redis, told };
  }
  const ping = (redis: Redis) => redis.send(['PING']);
  const waitFor = (check: () => void) => vi.waitFor(check, { timeout: 30_000 });

  test('that swallows everything costs all who ask together one deadline, and those after them nothing', async () => {
    const proxy = await startFaultyProxy(server.port);
    const { redis, told } = open(proxy.url.replace('http:', 'redis:'));
    await waitFor(() => expect(redis.isUp).toBe(true));
    proxy.fault = { kind: 'silent' };
    const startMs = performance.now();
    expect(new Set(await Promise.all(Array.from({ length: 100 }, () => ping(redis))))).toEqual(
      new Set([undefined]),
    );
    const tookMs = performance.now() - startMs;
    expect(tookMs).toBeGreaterThan(200);
    expect(tookMs).toBeLessThan(5_000);
    const afterMs = performance.now();
    for (let i = 0; i < 100; i++) expect(await ping(redis)).toBeUndefined();
    expect(performance.now() - afterMs).toBeLessThan(5_000); // a deadline for each would be 25 s
    expect(told.filter((one) => one === 'away')).toHaveLength(1);
    expect(told.filter((one) => one === 'failure')).toHaveLength(100);
    proxy.fault = { kind: 'none' };
    await waitFor(() => expect(redis.isUp).toBe(true));
    expect(await ping(redis)).toBe('PONG');
    await proxy.close();
  });
});
