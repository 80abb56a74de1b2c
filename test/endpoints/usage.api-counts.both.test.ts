import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { apiCounts } from '../../trial/oracle/api-counts.ts';
import type { WireEvent } from '../../trial/oracle/event.ts';
import { runs, weighted } from '../support/property.ts';
import { ownService, storeEvents } from '../support/service.ts';
import { clock, instantAround, projectValue } from './generate.ts';
import { ask, compute } from './support.ts';

const SOURCE = 'cloudflare.logs.prod';
const NAME = 'usage.api-counts';
const INTERVALS = ['hourly', 'minutely', 'daily'] as const;

const service = await ownService();

// Past the cache: patterns here match events of other cases too, and must see those that came since they were last asked.
const endpoint = service.core.registry.getEndpoint(NAME);
const stored: WireEvent[] = [];

const literal = fc.constantFrom('acme', 'co', 'rest', 'ht', 'a', 'e', '/', '-', ':', 'é', '\\.', 'X', '😀');
const special = fc.constantFrom('.', '[a-m]', '[^/]', '\\d', '\\w', '(?:ac|my)', '(st|th)', '\\s');
const piece = fc.oneof(literal, special);

const repeated = fc
  .tuple(piece, fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{0,3}', '+?'))
  .map(([what, times]) => (times === '' ? what : `(?:${what})${times}`));
const pieces = fc.array(repeated, { minLength: 1, maxLength: 4 });
const branch = fc
  .tuple(fc.constantFrom('', '', '^'), pieces, fc.constantFrom('', '', '$'))
  .map(([start, own, end]) => `${start}${own.join('')}${end}`);
const builtPattern = fc
  .tuple(fc.constantFrom('', '', '(?i)'), fc.array(branch, { minLength: 1, maxLength: 3 }))
  .map(([flag, branches]) => flag + branches.join('|'));
const knownPattern = fc.constantFrom(
  ...['acme', '^acme', 'acme$', '^acme$', '^https://acme\\.', 'acme\\.example', 'acme.example', 'nothing'],
  ...['(acme|other)\\.example', 'acme(-eu)?\\.', '^(https?://)?(my-)?acme', '(?i)acme', '.*', '.', '^.{4}$'],
  ...['(?i)^HTTPS://Acme\\.', '^$', '[[]', '\\bacme\\b', 'acme/rest', 'acme/$', '\n', '\u0000', 'é.'],
  ...['^.cme', '%', '_'],
);

/** Patterns that mean the same to RE2 and to JavaScript but for `(?i)`, which the oracle reads at the beginning. */
const pattern: fc.Arbitrary<string> = fc.oneof(knownPattern, builtPattern);

const PATHS = [
  ...['/rest/v1/todos', '/storage/v1/object/rest', '/auth/v1/token', '/realtime/v1/websocket', '/', ''],
  ...['/storage/auth/rest/realtime', '/rest', '/rest/rest', '/resting', '/REST/v1', 'rest/v1', '/re/st'],
  ...['/v1//auth', '/authentic', '/a/storage', '/é/realtime', '/rest\n/auth', '/rest\u0000/auth'],
];
const path = weighted(
  [8, fc.constantFrom(...PATHS)],
  [2, fc.constantFrom<unknown[]>(null, 7, ['/rest'], { path: '/rest' }, true)],
);

const URLS = [
  ...['https://acme.example.co/rest/v1', 'https://acme-eu.example.co/auth', 'http://my-acme.example.co/'],
  ...['https://ACME.example.co/', 'https://acmeXexample.co/storage', 'https://other.example.co/?ref=acme'],
  ...['acme', 'https://é😀.example.co/rest', 'https://acme.example.co/\nrest', 'aacme\u0000b'],
];
const url = weighted(
  [8, fc.constantFrom(...URLS)],
  [4, fc.constantFrom<unknown[]>(null, 7, ['https://acme.example.co'], false)],
);

const request = weighted(
  [10, fc.record({ path, url }, { requiredKeys: [] })],
  [1, fc.constantFrom<unknown[]>(null, '/rest', [{ path: '/rest' }])],
);

const record = { request, project_ref: projectValue, project: projectValue };

/** Metadata of a gateway request, path and url present, missing or of a wrong type. */
const requestMetadata: fc.Arbitrary<unknown> = weighted(
  [10, fc.record(record, { requiredKeys: ['request'] })],
  [1, fc.constantFrom<unknown[]>(null, [], 'text')],
);

const situation = clock.chain((now) => {
  const event = fc.record(
    { id: fc.uuid(), timestamp: instantAround(now), project: projectValue, metadata: requestMetadata },
    { requiredKeys: ['id', 'timestamp'] },
  );
  return fc.record({ now: fc.constant(now), events: fc.array(event, { maxLength: 40, size: 'max' }) });
});

async function expectAsOracle(s: { now: number; events: readonly WireEvent[] }, asked: Asked): Promise<void> {
  service.clock.now = s.now;
  await storeEvents(service.core, SOURCE, s.events, s.now);
  stored.push(...s.events);
  const rows = await compute(service, endpoint, { project: asked.pattern, interval: asked.interval });
  expect(rows).toEqual(apiCounts(stored, { ...asked, now: s.now * 1000 }));
}

interface Asked {
  readonly pattern: string;
  readonly interval: (typeof INTERVALS)[number];
}

test.for(INTERVALS)(
  'random requests are counted %s as the oracle does, for any pattern',
  async (interval) => {
    const property = fc.asyncProperty(situation, pattern, (s, one) =>
      expectAsOracle(s, { pattern: one, interval }),
    );
    await fc.assert(property, runs(40));
  },
);

describe('one rule at a time', () => {
  const now = Date.parse('2026-11-20T07:00:00.000Z');
  let cases = 0;

  type Request = { readonly ago: number; readonly path?: unknown; readonly url?: unknown };

  /** The answer over HTTP to requests of their own project. */
  async function rowsFor(interval: string, requests: readonly Request[]) {
    const project = `rule${cases++}z`;
    service.clock.now = now;
    const own = requests.map(({ ago, ...request }, i) => {
      return { id: `${project}-${i}`, timestamp: now * 1000 - ago, project, metadata: { request } };
    });
    await storeEvents(service.core, SOURCE, own, now);
    stored.push(...own);
    return await ask(service.url, NAME, { project, interval });
  }

  test('timestamps are UTC without a zone, counts JSON numbers, columns in their order', async () => {
    const { text } = await rowsFor('hourly', [{ ago: 0, path: '/rest/v1' }]);
    expect(text).toBe(
      '{"result":[{"timestamp":"2026-11-20T07:00:00","total_rest_requests":1,"total_storage_requests":0,' +
        '"total_auth_requests":0,"total_realtime_requests":0}]}',
    );
  });

  test.for([
    ['hourly', 3600, '2026-11-20T06:00:00'],
    ['minutely', 3600, '2026-11-20T06:00:00'],
    ['daily', 604_800, '2026-11-13T00:00:00'],
  ] as const)(
    '%s looks back %i seconds to the microsecond, the bound included',
    async ([interval, seconds, first]) => {
      const bound = seconds * 1_000_000;
      const { rows } = await rowsFor(interval, [
        { ago: bound + 1, path: '/auth' },
        { ago: bound, path: '/rest' },
        { ago: bound - 1, path: '/storage' },
      ]);
      expect(rows.map((row) => Object.values(row))).toEqual([[first, 1, 1, 0, 0]]);
    },
  );

  test('a request without a url is found by its project and path, one with a url by that alone', async () => {
    const urls = [undefined, null, 5, 'https://elsewhere.example.co/rest'];
    const requests = urls.map((url) => ({ ago: 1, path: '/rest', url }));
    const { rows } = await rowsFor('hourly', requests);
    expect(rows.map((row) => row['total_rest_requests'])).toEqual([3]);
  });

  test('the key of one project counts its own requests that name it, in any spelling of a pattern', async () => {
    const project = 'rule.(pinned)\\z';
    service.clock.now = now;
    const urls = ['https://x.example.com/rest', `https://${project}.example.com/rest`, undefined, 5];
    const event = { timestamp: now * 1000 - 1, project };
    const own = urls.map((url, i) => {
      return { ...event, id: `pinned-${i}`, metadata: { request: { url, path: '/rest' } } };
    });
    const foreign = own.map((one) => ({ ...one, id: `${one.id}-foreign`, project: 'rule-other' }));
    await storeEvents(service.core, SOURCE, [...own, ...foreign], now);
    stored.push(...own, ...foreign);
    const rows = await compute(service, endpoint, { interval: 'daily' }, { project });
    expect(rows.map((row) => row['total_rest_requests'])).toEqual([3]);
  });

  test('more than a thousand requests of one bucket are all counted', async () => {
    const paths = ['/rest', '/auth/rest', '/storage', '/other'];
    const events = Array.from({ length: 2400 }, (_, i) => ({ ago: i + 1, path: paths[i % 4] }));
    const { rows } = await rowsFor('daily', events);
    expect(rows.map((row) => Object.values(row))).toEqual([['2026-11-20T00:00:00', 1200, 600, 600, 0]]);
  });
});
