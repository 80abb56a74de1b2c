import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { NewKey } from '../../src/keys/management.ts';
import { createRandom } from '../../src/lib/random.ts';
import type { SearchTree, SearchValue } from '../../src/search/parse.ts';
import { isQuotedValue, printSearch } from '../../trial/oracle/print-search.ts';
import { findEvents, levelOf, type SearchedEvent, textOf } from '../../trial/oracle/search.ts';
import { EDGE, expectError, get } from '../support/http.ts';
import { createFindAtDoor, storeSearched } from '../support/matched.ts';
import { runs, SEED, weighted } from '../support/property.ts';
import { ownService, storeEvents } from '../support/service.ts';

const nowMs = Date.UTC(2026, 10, 20, 12);
const HOUR_MS = 3_600_000;
const { core, url, newKey } = await ownService({ now: nowMs });

const POSTGRES = 'postgres.logs';
const AUTH = 'gotrue.logs.prod';
const SOURCES = [EDGE, POSTGRES, AUTH];

const SIGNS =
  'it\'s ; "quoted" ; back\\slash ; 100% ; a_b ; nul\0nul ; line\nbreak ; \\ ; (a|b)+$ ; a*b ; $x$ ; @project';
const WORDS =
  "timeout ; Time Out ; été É ; 𝄞 ; -- comment ; '); DROP TABLE edge_logs; -- ; /* x */ ; 500 ; -1 ; ";
const TEXTS = [SIGNS, WORDS].flatMap((texts) => texts.split(' ; '));
const MORE = ['null', 'true', '{', '1.5', 'x:y', 'Σίσυφος'];
const STATUSES = [200, 204, 301, 404, 429, 500, 503, '500', null, 1.5, true];

const random = createRandom(`search ${SEED}`);
const any = <T>(items: readonly T[]): T => random.pick(items.map((item) => [item] as const))[0];

function createMetadata(): object {
  const odd = any([undefined, null, {}, [], ['a', 1], { b: 'c' }, any(TEXTS), any(STATUSES)]);
  return {
    request: { path: any([...TEXTS, '/rest/v1/orders', '/auth/v1/token', 7]), method: any(['GET', 'POST']) },
    response: {
      status_code: any(STATUSES),
      headers: { length: any(['12', '900', '', null]), 'a.b': any(TEXTS) },
    },
    parsed: { error_severity: any(['LOG', 'ERROR', 'PANIC', 'WARNING', 'whatever', null]) },
    level: any(['info', 'WARN', 'debug1', 'odd', null]),
    status: any(STATUSES),
    ...(odd !== undefined && { odd }),
  };
}

const events: SearchedEvent[] = Array.from({ length: 400 }, (_, i) => ({
  source: any(SOURCES),
  id: `${i}-${any(['a', 'é', '~'])}`,
  timestamp: (nowMs - random.whole(1, 60) * 50_000) * 1_000,
  project: any(['aurora', 'borealis']),
  event_message: `${any(TEXTS)} ${any(TEXTS)}`,
  metadata: createMetadata(),
}));

await storeSearched(core, events, nowMs);
const { sources } = core.registry;
const createKey = async (grant: Partial<NewKey>) => ({ 'x-api-key': await newKey(grant) });
const sourceOf = (event: SearchedEvent) => core.registry.getSource(event.source);

const newestFirst = (a: SearchedEvent, b: SearchedEvent) =>
  b.timestamp - a.timestamp || Buffer.compare(Buffer.from(b.id), Buffer.from(a.id));

function search(parameters: Record<string, string>, headers: Record<string, string> = {}) {
  return get(url, `/api/search?${new URLSearchParams(parameters)}`, headers);
}

async function rows(parameters: Record<string, string>, headers: Record<string, string> = {}) {
  const answer = await search(parameters, headers);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.result;
}

const TEXT = fc.constantFrom(...TEXTS, ...MORE, '/rest/v1/orders', 'time', 'É', '12', '429');
const WILDCARDS = [
  ['/rest/', ''],
  ['', '0'],
  ['t', 'm', ''],
  ['', '\\', ''],
  ['', '%', ''],
] as const;
const ONE_TEXT = TEXT.map((text) => [text] as const);
const VALUE: fc.Arbitrary<SearchValue> = weighted([3, ONE_TEXT], [1, fc.constantFrom(...WILDCARDS)]);
const NUMBERS = fc.constantFrom('500', '404', '1.5', '-1', '1e3', '0').map((text) => [text] as const);
const FIELD = fc.constantFrom(
  ...([['request', 'path'], ['response', 'status_code'], ['status'], ['odd'], ['odd', 'b']] as const),
  ...([
    ['metadata', 'odd'],
    ['response', 'headers', 'a.b'],
    ['response', 'headers', 'length'],
  ] as const),
  ...([['nowhere'], ['parsed', 'error_severity'], ['project'], ['id'], ['event_message']] as const),
);
const OPERATORS = ['=', '>=', '<=', '>', '<'] as const;
const OPERATOR = fc.constantFrom(...OPERATORS);
const LEVELS = ['info', 'Warning', 'error', 'fatal', 'debug', 'LOG'];
const LEVEL = fc.constantFrom(...LEVELS).map((text) => [text] as const);
const AGO = fc.integer({ min: 0, max: 60 });
const TIME = AGO.map((i) => [new Date(nowMs - i * 50_000).toISOString()] as const);
const compare = <F extends readonly [string, ...string[]]>(
  field: fc.Arbitrary<F>,
  operator: fc.Arbitrary<(typeof OPERATORS)[number]>,
  value: fc.Arbitrary<SearchValue>,
) =>
  fc.record({ field, operator, value, mayQuote: fc.boolean() }).map(({ mayQuote, ...clause }) => ({
    ...clause,
    kind: 'compare' as const,
    isQuoted: isQuotedValue(clause.value, mayQuote),
    position: 0,
  }));

const { tree: TREE } = fc.letrec<{ tree: SearchTree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    VALUE.map((value) => ({ kind: 'text' as const, value })),
    FIELD.map((field) => ({ kind: 'exists' as const, field, position: 0 })),
    compare(FIELD, fc.constant('=' as const), VALUE),
    compare(FIELD, OPERATOR, NUMBERS),
    compare(FIELD, OPERATOR, ONE_TEXT),
    compare(fc.constant(['level'] as const), OPERATOR, LEVEL),
    compare(fc.constant(['timestamp'] as const), OPERATOR, TIME),
    fc.record({ kind: fc.constant('not' as const), item: tie('tree') }),
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      items: fc.array(tie('tree'), { minLength: 2, maxLength: 3 }),
    }),
  ),
}));

const findAtDoor = createFindAtDoor(events, sources, nowMs);

// None: all.
const SOME_SOURCES = fc.subarray([...SOURCES, 'realtime.logs.prod']);

test('finds the events that an oracle finds, newest first', async () => {
  await fc.assert(
    fc.asyncProperty(TREE, SOME_SOURCES, async (tree, searched) => {
      const q = printSearch(tree);
      const found = await rows({ q, limit: '1000', source: searched.join(',') });
      const own = sources.filter(({ name }) => searched.length === 0 || searched.includes(name));
      const expected = findEvents(events, own, tree).toSorted(newestFirst);
      const atDoor = findAtDoor(tree).filter(({ source }) => own.some(({ name }) => name === source));
      expect(atDoor.toSorted(newestFirst), `${q}, before events are stored`).toEqual(expected);
      const ids = found.map(({ id }) => id);
      expect(ids, q).toEqual(expected.map(({ id }) => id));
    }),
    runs(120),
  );
});

const fieldOf = (event: SearchedEvent, field: string) =>
  field === 'level' ? levelOf(event, sourceOf(event)) : textOf(event, sourceOf(event), field.split('.'));

test('counts by time and by field, and lists values, as the oracle does', async () => {
  const fields = ['level', 'source', 'project', 'request.path', 'response.status_code', 'odd'];
  await fc.assert(
    fc.asyncProperty(
      TREE,
      fc.constantFrom(...fields),
      fc.constantFrom(1, 7, 60),
      async (tree, by, buckets) => {
        const q = printSearch(tree);
        const expected = findEvents(events, sources, tree);
        const width = (HOUR_MS * 1_000) / buckets;
        const start = (nowMs - HOUR_MS) * 1_000;
        const whole = Math.ceil(width);
        const groupOf = (event: SearchedEvent) => fieldOf(event, by);
        const counted = await rows({ q, by, buckets: String(buckets), part: 'histogram' });
        const sum = (all: readonly (readonly [string, number])[]) => {
          const totals = new Map<string, number>();
          for (const [key, count] of all) totals.set(key, (totals.get(key) ?? 0) + count);
          return Object.fromEntries([...totals].toSorted());
        };
        const bucketOf = ({ timestamp }: SearchedEvent) =>
          start + Math.floor((timestamp - start) / whole) * whole;
        const times = expected.map((event) => [String(bucketOf(event)), 1] as const);
        const byTime = sum(counted.map((row) => [String(row['timestamp']), Number(row['count'])]));
        expect(byTime, q).toEqual(sum(times));
        const values = expected.map((event) => [String(groupOf(event)), 1] as const);
        if (new Set(values.map(([value]) => value)).size <= 20)
          expect(sum(counted.map((row) => [String(row[by]), Number(row['count'])])), q).toEqual(sum(values));
        const top = await rows({ q, field: by, part: 'values' });
        const counts = sum(expected.flatMap((event) => groupOf(event) ?? []).map((value) => [value, 1]));
        for (const { value, count } of top) expect(counts[String(value)], q).toBe(count);
        const highest = Object.values(counts).toSorted((a, b) => b - a);
        expect(top.map(({ count }) => count)).toEqual(highest.slice(0, 20));
      },
    ),
    runs(40),
  );
});

test.each([
  ['avg', 2, 10, 8],
  ['sum', 6, 10, 16],
  ['p50', 2, 10, 9],
  ['p95', 3, 10, 9],
  ['distinct', 3, 2, 2],
])(
  '%s of a field by the top of another counts numbers alone, and the rest as one',
  async (name, ...values) => {
    const [from, until] = ['2026-11-18T17:00:00Z', '2026-11-18T18:00:00Z'];
    const project = `measured-${name}`;
    const took = { a: [1, 2, '3'], b: [10, 'none'], c: [7], d: [9] };
    const measured = Object.entries(took).flatMap(([path, all]) =>
      all.map((one, i) => ({
        ...{ id: `${path}${i}`, timestamp: '2026-11-18T17:30:00Z', project },
        metadata: { request: { path }, took: one },
      })),
    );
    await storeEvents(core, EDGE, measured, nowMs);
    const by = 'request.path';
    const measure = { part: 'histogram', buckets: '1', measure: `${name}(took)`, by, top: '2' };
    const found = await rows({ ...measure, from, until, project });
    const timestamp = Date.parse(from) * 1_000;
    expect(found.toSorted((a, b) => (`${a['other']} ${a[by]}` < `${b['other']} ${b[by]}` ? -1 : 1))).toEqual([
      { timestamp, [by]: 'a', count: 3, value: values[0], other: false },
      { timestamp, [by]: 'b', count: 2, value: values[1], other: false },
      { timestamp, [by]: null, count: 2, value: values[2], other: true },
    ]);
  },
);

describe('pages', () => {
  test('of another search have another cursor', async () => {
    const { headers } = await search({ limit: '5', q: 'a' });
    const [, cursor = ''] = /cursor=([^>&]+)/.exec(headers.get('link') ?? '') ?? [];
    expect((await search({ limit: '5', q: 'a', cursor })).status).toBe(200);
    for (const other of [{ q: 'b' }, { limit: '6' }, { source: EDGE }])
      expectError(await search({ q: 'a', limit: '5', ...other, cursor }), 'invalid_parameter');
    for (const limits of [{ sources: [EDGE] }, { pins: { project: 'aurora' } }])
      expectError(await search({ limit: '5', q: 'a', cursor }, await createKey(limits)), 'invalid_parameter');
  });

  test('tell events apart that share instant and id', async () => {
    const timestamp = new Date(nowMs + HOUR_MS / 2).toISOString();
    const same = ['aurora', 'borealis'].map((project) => ({ id: 'same', timestamp, project, metadata: {} }));
    for (const source of [EDGE, AUTH]) await storeEvents(core, source, same, nowMs);
    const seen: string[] = [];
    let path = '/api/search?from=2026-11-20T12:00:00Z&until=2026-11-20T13:00:00Z&limit=1';
    while (path !== '' && seen.length < 10) {
      const { body, headers } = await get(url, path);
      seen.push(...body.result.map(({ source, project }) => `${source} ${project}`));
      path = /^<(.*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] ?? '';
    }
    const places = [AUTH, EDGE].flatMap((source) => [`${source} borealis`, `${source} aurora`]);
    expect(seen).toEqual(places);
  });
});

// What keys with limits see: search-keys.test.ts.
test('a key that cannot read all of a source may not search, nor list sources', async () => {
  const limits: Partial<NewKey>[] = [{ pins: { project_tier: 'FREE' } }, { endpoints: ['logs.all'] }];
  for (const grant of [...limits, { scopes: ['ingest', 'manage'] as const }]) {
    const key = await createKey(grant);
    expectError(await search({}, key), 'forbidden');
    expectError(await get(url, '/api/search/sources', key), 'forbidden');
  }
  expectError(await search({}, { 'x-api-key': '' }), 'unauthorized');
});

test('GET /api/search/sources has those that the key may search', async () => {
  const key = await createKey({ sources: [POSTGRES], pins: { project: 'aurora' } });
  const { body } = await get(url, '/api/search/sources', key);
  expect(body.result.map(({ name }) => name)).toEqual([POSTGRES]);
});

test.each([
  ['q', { q: 'a (b' }, 2],
  ['q', { q: 'a '.repeat(129) }, 256],
  ['q', { q: `${'('.repeat(3_000)}a${')'.repeat(3_000)}` }, 51],
  ['by', { part: 'histogram', by: 'timestamp' }, undefined],
  ['measure', { part: 'histogram', measure: "sum(x'); DROP TABLE edge_logs; --" }, undefined],
])('rejects a wrong %s: %j', async (parameter, parameters, position) => {
  const answer = await search(parameters as Record<string, string>); // members are texts
  expectError(answer, 'invalid_parameter');
  const fault = { parameter, message: expect.any(String), ...(position !== undefined && { position }) };
  expect(answer.body.error.errors).toEqual([fault]);
});
