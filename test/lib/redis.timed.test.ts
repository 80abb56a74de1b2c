import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { findProgram } from '../../scripts/programs.js';
import { createScript, openRedis, type Redis, runScript } from '../../src/lib/redis.ts';
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
  const ping = (redis: Redis) => redis.run((send) => send(['PING']));
  const waitFor = (check: () => void) => vi.waitFor(check, { timeout: 30_000 });

  test('is made behind the back of the start, and answers', async () => {
    const { redis, told } = open();
    expect(await ping(redis)).toBeUndefined();
    await waitFor(() => expect(redis.isUp).toBe(true));
    expect(await ping(redis)).toBe('PONG');
    await redis.run((send) => send(['SET', 'bytes', Buffer.from([0, 255, 13, 10])]));
    expect(await redis.run((send) => send(['GET', 'bytes']))).toEqual(Buffer.from([0, 255, 13, 10]));
    expect(await redis.run((send) => send(['GET', 'none']))).toBeNull();
    expect(told).toEqual(['up']);
  });

  test('that breaks is told once, and comes back by itself', async () => {
    const { redis, told } = open();
    await waitFor(() => expect(redis.isUp).toBe(true));
    await server.kill();
    await waitFor(() => expect(told).toEqual(['up', 'away']));
    await server.start();
    await waitFor(() => expect(told).toEqual(['up', 'away', 'up']));
    expect(await ping(redis)).toBe('PONG');
  });

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

  test('runs scripts, also those that Redis has not seen or has forgotten', async () => {
    const { redis } = open();
    await waitFor(() => expect(redis.isUp).toBe(true));
    const script = createScript('return {KEYS[1], ARGV[1]}');
    const run = () => redis.run((send) => runScript(send, script, { keys: ['key'], args: ['argument'] }));
    const both = [Buffer.from('key'), Buffer.from('argument')];
    expect([await run(), await run()]).toEqual([both, both]);
    await redis.run((send) => send(['SCRIPT', 'FLUSH']));
    expect(await run()).toEqual(both);
  });
});
