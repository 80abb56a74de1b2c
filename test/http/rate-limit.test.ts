import { describe, expect, test } from 'vitest';
import { expectError, get, type HttpAnswer, QUERY_PATH, readMetric } from '../support/http.ts';
import { ownService, PRIVATE_KEY, PUBLIC_KEY } from '../support/service.ts';

const PATH = `${QUERY_PATH}/usage.api-counts?project=p1&interval=daily`;

const rateOf = ({ headers }: HttpAnswer) =>
  ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map((name) => headers.get(name));

const service = await ownService({
  env: { TAILRACE_RATE_PER_SECOND: '5' },
  bounds: { authFailuresPerMinuteMax: 60 },
});
const { url, clock, newKey } = service;

test('a key with a rate is answered 429 beyond it, also for cached answers, until the time that it is told; others are not', async () => {
  const ask = (key: string, path = PATH) => get(url, path, { 'x-api-key': key });
  const [key, other] = [await newKey(), await newKey()];
  for (let i = 0; i < 5; i++) expect((await ask(key)).status).toBe(200);
  const before = await readMetric(url, 'tailrace_rate_limited_total', { reason: 'key' });
  const refused = await ask(key);
  expectError(refused, 'rate_limited');
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(rateOf(refused)).toEqual(['5', '0', '1']);
  expect(refused.body.error.message).toContain('5 requests a second, and 5 at once');
  expect(await readMetric(url, 'tailrace_rate_limited_total', { reason: 'key' })).toBe(before + 1);
  expect(rateOf(await ask(other))).toEqual(['5', '4', '1']);
  clock.now += 400;
  for (const status of [200, 200, 429]) expect((await ask(key)).status).toBe(status);
});

describe('an address from which wrong keys come', () => {
  const fail = (key = 'wrong') => get(url, PATH, { 'x-api-key': key });
  const exhaust = async () => {
    for (let i = 0; i < 60; i++) await fail();
  };

  test('does not learn which key is right', async () => {
    const key = await newKey();
    await exhaust();
    const [right, wrong] = [await fail(key), await fail('wrong')];
    expectError(right, 'rate_limited');
    expect(right.body.error.message).toBe(wrong.body.error.message);
    clock.now += 120_000;
    expect((await fail(key)).status).toBe(200);
  });

  test('keeps the keys that were accepted from there before', async () => {
    expect((await get(url, PATH)).status).toBe(200);
    await exhaust();
    expectError(await fail(), 'rate_limited');
    expectError(await fail(PUBLIC_KEY), 'rate_limited'); // good, but not seen here before
    expect((await fail(PRIVATE_KEY)).status).toBe(200);
    expect(await readMetric(url, 'tailrace_rate_limited_total', { reason: 'address' })).toBeGreaterThan(2);
    clock.now += 120_000;
  });
});
