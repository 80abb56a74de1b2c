import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Rate, type TokenBucket, takeToken } from '../../src/lib/token-bucket.ts';

describe('a bucket', () => {
  test('tells what is left, when it is full, and when there is a token again', () => {
    const first = takeToken(undefined, { perSecond: 2, burst: 4 }, 0);
    expect(first).toMatchObject({ passed: true, remaining: 3, resetSeconds: 1, retryAfterSeconds: 1 });
    const slow: Rate = { perSecond: 0.1, burst: 2 };
    const one = takeToken(undefined, slow, 0);
    const two = takeToken(one.bucket, slow, 0);
    const three = takeToken(two.bucket, slow, 0);
    expect([two.passed, three.passed]).toEqual([true, false]);
    expect(three).toMatchObject({ remaining: 0, resetSeconds: 20, retryAfterSeconds: 10 });
    expect(takeToken(three.bucket, slow, 9_000).passed).toBe(false);
    expect(takeToken(three.bucket, slow, 10_000).passed).toBe(true);
  });

  test('never lets more pass than burst and rate allow, and lets in whoever waits as long as told', () => {
    const rates = fc.record({
      perSecond: fc.double({ min: 0.01, max: 1000, noNaN: true }),
      burst: fc.integer({ min: 1, max: 50 }),
    });
    const steps = fc.array(fc.nat(3_000), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(rates, steps, (rate, gaps) => {
        let nowMs = 0;
        let passed = 0;
        let bucket: TokenBucket | undefined;
        for (const gap of gaps) {
          nowMs += gap;
          const taken = takeToken(bucket, rate, nowMs);
          bucket = taken.bucket;
          if (taken.passed) passed++;
          else expect(takeToken(bucket, rate, nowMs + taken.retryAfterSeconds * 1000).passed).toBe(true);
        }
        expect(passed).toBeLessThanOrEqual(rate.burst + (nowMs / 1000) * rate.perSecond + 1);
      }),
    );
  });
});
