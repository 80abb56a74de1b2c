import { afterAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../src/lib/random.ts';
import { expectError, get, request } from '../support/http.ts';
import { PRIVATE_KEY, startTestService, storeEvents } from '../support/service.ts';

// `part=compare`: a planted cause, and shares counted by the test.
const nowMs = Date.UTC(2026, 10, 20, 12);
const EDGE = 'cloudflare.logs.prod';
const SEEDS = Array.from({ length: 20 }, (_, i) => i);
const NOISE = 12;
const { core, url, close } = await startTestService({ now: nowMs });
afterAll(close);

interface Planted {
  readonly id: string;
  readonly timestamp: string;
  readonly project: string;
  readonly event_message: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** 400 requests of one project: most of those of one region and one version fail, and few others. */
function plant(seed: number): { events: Planted[]; region: string; version: string } {
  const random = createRandom(`compare ${seed}`);
  const any = <T>(items: readonly T[]): T => random.pick(items.map((item) => [item] as const))[0];
  const regions = ['eu', 'us', 'asia', 'africa'];
  const versions = ['41', '42', '43'];
  const [region, version] = [any(regions), any(versions)];
  const events = Array.from({ length: 400 }, (_, i): Planted => {
    const own = { region: any(regions), version: any(versions) };
    const isCause = own.region === region && own.version === version;
    const fails = random.whole(0, 99) < (isCause ? 80 : 3);
    const noise = Object.fromEntries(
      Array.from({ length: NOISE }, (_, n) => [`noise${n}`, `v${random.whole(0, 2 + n * 3)}`]),
    );
    return {
      id: `s${seed}e${i}`,
      timestamp: new Date(nowMs - 1_000 - i).toISOString(),
      project: `seed${seed}`,
      event_message: `request ${i}`,
      metadata: {
        ...{
          ...own,
          ...noise,
          request: { path: any(['/a', '/b']), id: `r${i}` },
          mixed: any([5, 'five', null]),
        },
        response: { status_code: fails ? 500 : 200 },
      },
    };
  });
  return { events, region, version };
}

const planted = SEEDS.map(plant);
await storeEvents(
  core,
  EDGE,
  planted.flatMap(({ events }) => events),
  nowMs,
);

const ask = (parameters: Record<string, string>, headers = {}) =>
  get(
    url,
    `/api/search?${new URLSearchParams({ part: 'compare', source: EDGE, q: 'level:error', ...parameters })}`,
    headers,
  );

test('ranks the planted cause first for 19 of 20 seeds', async () => {
  const first: boolean[] = [];
  for (const seed of SEEDS) {
    const { body, text } = await ask({ project: `seed${seed}` });
    expect(body.result.length, text).toBeGreaterThan(2);
    const { region, version } = planted[seed] as (typeof planted)[number];
    const [best, second] = body.result;
    const causes = [`region ${region}`, `version ${version}`];
    const found = [best, second].map((row) => `${row?.['field']} ${row?.['value']}`);
    first.push(causes.includes(found[0] ?? '') && causes.includes(found[1] ?? ''));
  }
  expect(first.filter(Boolean).length).toBeGreaterThanOrEqual(19);
});

const { events } = planted[3] as (typeof planted)[number];
const fails = ({ metadata }: Planted) =>
  (metadata['response'] as { status_code: number }).status_code === 500;
const share = (some: readonly Planted[], field: string, value: string) =>
  some.filter(({ metadata }) => String(metadata[field]) === value).length / some.length;

test.each([
  ['the others', {}, (event: Planted) => !fails(event)],
  ['another search', { against: 'region:eu' }, (event: Planted) => event.metadata['region'] === 'eu'],
])('counts a value in both sets, against %s', async (_, parameters, isOther) => {
  const { body } = await ask({ project: 'seed3', limit: '1000', ...parameters });
  const own = events.filter(fails);
  const others = events.filter(isOther);
  const rows = body.result.filter(({ field }) => /^(noise\d|version|mixed)$/.test(String(field)));
  expect(rows.length).toBeGreaterThan(10);
  for (const row of rows) {
    const [field, value] = [String(row['field']), String(row['value'])];
    expect(row['share']).toBeCloseTo(share(own, field, value), 5);
    expect(row['against_share']).toBeCloseTo(share(others, field, value), 5);
    expect(row['count']).toBe(Math.round(share(own, field, value) * own.length));
    expect(row['score']).toBeCloseTo(score(own.length, others.length, row), 5);
  }
  const scores = body.result.map((row) => Number(row['score']));
  expect(scores).toEqual(scores.toSorted((a, b) => b - a));
});

/** The divergence as the mutual information of two coins. */
function score(own: number, others: number, row: Readonly<Record<string, unknown>>): number {
  const p = (Number(row['count']) + 0.5) / (own + 1);
  const q = (Number(row['against_count']) + 0.5) / (others + 1);
  const part = (x: number, m: number) => (x * Math.log2(x / m)) / 2;
  return [
    [p, q],
    [1 - p, 1 - q],
  ].reduce((sum, [a = 0, b = 0]) => sum + part(a, (a + b) / 2) + part(b, (a + b) / 2), 0);
}

test('leaves out fields that the searches name, what they are computed from, and fields whose values hardly repeat', async () => {
  const named = async (parameters: Record<string, string>) => {
    const { body, text } = await ask({ project: 'seed3', limit: '1000', ...parameters });
    expect(body.result, text).not.toEqual([]);
    return new Set(body.result.map(({ field }) => field));
  };
  const byLevel = await named({});
  for (const field of ['level', 'response.status_code', 'request.id', 'id', 'timestamp', 'event_message'])
    expect(byLevel).not.toContain(field);
  for (const field of ['region', 'request.path', 'mixed']) expect(byLevel).toContain(field);
  const byStatus = await named({ q: 'metadata.response.status_code:500', against: 'region:eu' });
  for (const field of ['level', 'response.status_code', 'region']) expect(byStatus).not.toContain(field);
  const byPath = await named({ q: 'request.path:/a' });
  for (const field of ['request.path', 'is_rest']) expect(byPath).not.toContain(field);
});

describe('rejects', () => {
  test.each([
    [{ q: '' }, 'q is required'],
    [{ against: 'level:odd' }, 'against has an unknown level'],
    [{ against: '(a' }, 'against'],
  ])('%j', async (parameters, message) => {
    const answer = await ask(parameters);
    expectError(answer, 'invalid_parameter');
    expect(answer.body.error.message).toContain(message);
  });
});

test.each([
  [{ q: 'region:nowhere' }, 'no event of the range matches q'],
  [{ q: 'region:*' }, 'every event of the range matches q'],
  [{ against: 'region:nowhere' }, 'matches "against"'],
])('says why %j has no rows', async (parameters, hint) => {
  const { body, headers } = await ask({ project: 'seed3', ...parameters });
  expect(body.result).toEqual([]);
  expect(headers.get('x-tailrace-hint')).toContain(hint);
});

test('a key that pins project compares only its own events', async () => {
  const created = await request(url, '/api/keys', {
    method: 'POST',
    headers: { 'x-api-key': PRIVATE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'a test', scopes: ['query'], pins: { project: 'seed3' } }),
  });
  const { key } = JSON.parse(created.text) as { key: string };
  const pinned = await ask({ limit: '1000' }, { 'x-api-key': key });
  expect(pinned.body.result).toEqual((await ask({ project: 'seed3', limit: '1000' })).body.result);
  expectError(await ask({ project: 'seed4' }, { 'x-api-key': key }), 'forbidden');
});

test('answers in every format', async () => {
  for (const format of ['ndjson', 'csv', 'arrow', 'parquet'])
    expect((await ask({ project: 'seed3', format })).status).toBe(200);
});
