import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseCacheControl } from '../../src/serve/negotiate.ts';
import { expectError, get, QUERY_PATH, readMetric, throughFramework } from '../support/http.ts';
import { ownService } from '../support/service.ts';

test('Cache-Control of a request means the same in any order, letter case and spacing, among any others', () => {
  const others = ['max-stale', 'min-fresh=3', 'foo="bar, no-store, max-age=1"', 'no-transform', 'a=b', ''];
  const known = ['no-store', 'no-cache', 'only-if-cached', 'max-age=7', 'max-age="9"'];
  const cases = fc.record({
    directives: fc.shuffledSubarray([...known, ...others]),
    space: fc.constantFrom('', ' ', '\t', '  '),
    upper: fc.boolean(),
  });
  fc.assert(
    fc.property(cases, ({ directives, space, upper }) => {
      const text = directives.join(`${space},${space}`);
      const has = (name: string) => directives.includes(name);
      const age = has('max-age=7') ? 7 : has('max-age="9"') ? 9 : undefined;
      expect(parseCacheControl(upper ? text.toUpperCase() : text)).toEqual({
        maxAgeSeconds: has('no-store') || has('no-cache') ? 0 : age,
        noStore: has('no-store'),
        onlyIfCached: has('only-if-cached'),
      });
    }),
  );
});

const service = await ownService();
const { url, clock } = service;
const { keyring } = service.service;
let project = 0;
beforeEach(() => void project++);

// Queries are counted, so this is an endpoint whose answers are not kept warm.
const path = () => `${QUERY_PATH}/usage.by-project?project=p${project}`;
const ask = (cacheControl?: string) =>
  get(url, path(), cacheControl === undefined ? {} : { 'cache-control': cacheControl });
const status = async (cacheControl?: string) => (await ask(cacheControl)).headers.get('cache-status');
const queries = () => readMetric(url, 'tailrace_engine_queries_total', { endpoint: 'usage.by-project' });

/** The same question by both ways that lead to the cache: ahead of the framework where that is possible, and through it. */
const WAYS = [
  ['ahead of the framework', ask],
  ['through the framework', (cacheControl?: string) => throughFramework(keyring, () => ask(cacheControl))],
] as const;

describe.each(WAYS)('asked %s', (_, send) => {
  test.each(['no-store', 'max-age=60, No-Store'])(
    '%s has a query of its own, whose answer nobody finds',
    async (header) => {
      const before = await queries();
      for (let i = 0; i < 2; i++)
        expect((await send(header)).headers.get('cache-status')).toBe('Tailrace; fwd=request');
      expect((await queries()) - before).toBe(2);
      expectError(await send('only-if-cached'), 'not_cached');
      expect(await status()).toBe('Tailrace; fwd=miss; stored');
      clock.now += 999;
      expect([await status(), (await ask()).headers.get('age')]).toEqual(['Tailrace; hit; ttl=60', '0']);
      clock.now += 4_001;
      expect((await send(header)).headers.get('age')).toBe('0');
      expect([await status(), (await ask()).headers.get('age')]).toEqual(['Tailrace; hit; ttl=55', '5']);
    },
  );

  test('only-if-cached runs no query: it has the kept answer, or 504', async () => {
    const before = await queries();
    expectError(await send('only-if-cached'), 'not_cached', 'only-if-cached');
    await ask();
    clock.now += 40_000;
    const hit = 'Tailrace; hit; ttl=20';
    for (const header of ['only-if-cached', 'ONLY-IF-CACHED, max-age=41'])
      expect((await send(header)).headers.get('cache-status')).toBe(hit);
    for (const header of [
      'only-if-cached, max-age=40',
      'only-if-cached, no-cache',
      'no-store, only-if-cached',
    ])
      expectError(await send(header), 'not_cached');
    clock.now += 20_000;
    expectError(await send('only-if-cached'), 'not_cached');
    expect((await queries()) - before).toBe(1);
  });
});
