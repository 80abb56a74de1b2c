import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { findProgram } from '../../scripts/programs.js';
import { openRedis, type Redis } from '../../src/lib/redis.ts';
import { type Rate, takeToken } from '../../src/lib/token-bucket.ts';
import { createSharedRates, type SharedRates } from '../../src/serve/admit.ts';
import { startRedis, type TestRedis } from '../../trial/redis.ts';

describe.skipIf(findProgram('redis-server') === undefined)('buckets that replicas share', () => {
  let server: TestRedis;
  let spoiler: Awaited<ReturnType<TestRedis['client']>>;
  const opened: Redis[] = [];
  let rates: SharedRates;
  let others: SharedRates;

  beforeAll(async () => {
    server = await startRedis();
    spoiler = await server.client();
    [rates, others] = [await open(), await open()];
  });
  afterAll(async () => {
    for (const redis of opened) redis.close();
    await server.remove();
  });

  async function open(): Promise<SharedRates> {
    const redis = openRedis(server.url, { onUp() {}, onDown() {}, onFailure() {} }, 10_000);
    opened.push(redis);
    await vi.waitFor(() => expect(redis.isUp).toBe(true), 60_000);
    return createSharedRates(redis, Buffer.from('a secret'));
  }
  async function take(rate: Rate, name = 'key', from = rates) {
    const [limited] = (await from.take([{ name, rate }])) ?? [];
    if (limited === undefined) throw new Error('there was no answer');
    return limited.standing;
  }
  async function onlyName(): Promise<string> {
    const [name = ''] = await spoiler.keys('*');
    return name;
  }

  test('give and tell what those of one process do, from any state', async () => {
    const cases = fc.record({
      perSecond: fc.oneof(
        fc.integer({ min: 1, max: 1_000 }),
        fc.double({ min: 0.001, max: 1e6, noNaN: true }),
      ),
      burst: fc.integer({ min: 1, max: 1_000_000 }),
      tokens: fc.double({ min: 0, max: 1e6, noNaN: true }),
      agoMs: fc.integer({ min: -10_000, max: 100_000 }),
    });
    await spoiler.flushAll();
    await take({ perSecond: 1, burst: 1 });
    const name = await onlyName();
    await fc.assert(
      fc.asyncProperty(cases, async ({ perSecond, burst, tokens, agoMs }) => {
        const rate = { perSecond, burst };
        const atMs = Date.now() - agoMs;
        await spoiler.set(name, `${tokens} ${atMs}`);
        const taken = await take(rate);
        const [left = '', nowMs = ''] = String(await spoiler.get(name)).split(' ');
        const { bucket, ...standing } = takeToken({ tokens, atMs }, rate, Number(nowMs));
        expect(taken).toEqual(standing);
        expect([Number(left), Number(nowMs)]).toEqual([bucket.tokens, bucket.atMs]);
      }),
    );
  });

  test('let as many pass as one would, through however many replicas', async () => {
    const rate = { perSecond: 0.001, burst: 50 };
    const asked = Array.from({ length: 200 }, (_, i) => take(rate, 'together', i % 2 === 0 ? rates : others));
    const standings = await Promise.all(asked);
    expect(standings.filter(({ passed }) => passed)).toHaveLength(50);
    expect(await take(rate, 'another')).toMatchObject({ passed: true, remaining: 49 });
  });
});
