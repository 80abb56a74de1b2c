import { expect, test } from 'vitest';
import { createRandom, type Random } from '../../src/lib/random.ts';
import { createLabelled } from '../../trial/oracle/labelled-messages.ts';
import type { SearchedEvent } from '../../trial/oracle/search.ts';
import { EDGE, get } from '../support/http.ts';
import { storeSearched } from '../support/matched.ts';
import { SEED } from '../support/property.ts';
import { ownService, storeEvents } from '../support/service.ts';

const nowMs = Date.UTC(2026, 10, 20, 12);
const { core, url } = await ownService({ now: nowMs });
const search = (parameters: Record<string, string>) =>
  get(url, `/api/search?${new URLSearchParams(parameters)}`);

const createAny =
  (random: Random) =>
  <T>(items: readonly T[]): T =>
    random.pick(items.map((item) => [item] as const))[0];

// `part=compare`: a planted cause, and shares counted by the test.
const AUTH = 'gotrue.logs.prod';
const SEEDS = Array.from({ length: 20 }, (_, i) => i);
const NOISE = 12;

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
  const any = createAny(random);
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
        ...{ ...own, ...noise, request: { path: any(['/a', '/b']), id: `r${i}` } },
        ...{ mixed: any([5, 'five', null]), response: { status_code: fails ? 500 : 200 } },
      },
    };
  });
  return { events, region, version };
}

const planted = SEEDS.map(plant);
for (const { events } of planted) await storeEvents(core, EDGE, events, nowMs);

const compare = (parameters: Record<string, string>) =>
  search({ part: 'compare', source: EDGE, q: 'level:error', ...parameters });

test('ranks the planted cause first for 19 of 20 seeds', async () => {
  const first: boolean[] = [];
  for (const seed of SEEDS) {
    const { body, text } = await compare({ project: `seed${seed}` });
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
  const { body } = await compare({ project: 'seed3', limit: '1000', ...parameters });
  const own = events.filter(fails);
  const others = events.filter(isOther);
  const rows = body.result.filter(({ field }) => /^(noise\d|version|mixed)$/.test(String(field)));
  expect(rows.length).toBeGreaterThan(10);
  for (const row of rows) {
    const [field, value] = [String(row['field']), String(row['value'])];
    expect(row['share']).toBeCloseTo(share(own, field, value), 5);
    expect(row['against_share']).toBeCloseTo(share(others, field, value), 5);
    expect(row['count']).toBe(Math.round(share(own, field, value) * own.length));
  }
  const scores = body.result.map((row) => Number(row['score']));
  expect(scores).toEqual(scores.toSorted((a, b) => b - a));
});

// `part=patterns`, on messages of forty templates; and samples.
const SOURCE = 'postgREST.logs.prod';
const TEMPLATES = 40;
const labelled = createLabelled(createRandom(`patterns ${SEED}`), 6_000);
const toEvent = (message: string, i: number, project = 'aurora') => ({
  id: `e${i}`,
  timestamp: new Date(nowMs - 1_000_000 + i).toISOString(),
  project,
  event_message: message,
  metadata: { level: 'info' },
});
const messages = labelled.map(({ message }, i) => toEvent(message, i));
await storeEvents(core, SOURCE, messages, nowMs);

const findPatterns = (parameters: Record<string, string>) =>
  search({ part: 'patterns', source: SOURCE, ...parameters });

test('finds at least 95 % of forty templates, with their counts and times', async () => {
  const { body, text, headers } = await findPatterns({ limit: '1000' });
  expect(body.result.length, text).toBeGreaterThan(0);
  expect(headers.has('x-sampled')).toBe(false);
  const sum = body.result.reduce((all, row) => all + Number(row['count']), 0);
  expect(sum).toBe(labelled.length);
  const right = Array.from({ length: TEMPLATES }, (_, label) => {
    const own = labelled.flatMap((one, i) => (one.label === label ? [i] : []));
    return body.result.some(
      (row) =>
        row['count'] === own.length &&
        row['sample'] === `e${own.at(-1)}` &&
        row['first'] === (nowMs - 1_000_000 + Number(own[0])) * 1_000,
    );
  });
  const patterns = body.result.map((row) => `${row['count']} ${row['pattern']}`).join('\n');
  expect(right.filter(Boolean).length, patterns).toBeGreaterThanOrEqual(TEMPLATES * 0.95);
  expect(body.result.map(({ pattern }) => pattern)).toEqual(
    expect.arrayContaining([
      'POST | <num> | <ip> | <id> | https://<word>/functions/v1/<word>',
      'user <word> logged in from <ip>',
      'too many connections for role "anon"',
    ]),
  );
});

test.each(['count', 'distinct(id)'])('no row of a histogram is read by the service: %s', async (measure) => {
  const { parse } = JSON;
  const countParsed = async (buckets: string) => {
    let parsed = 0;
    JSON.parse = (...texts) => {
      parsed++;
      return parse(...texts);
    };
    const [from, until] = [1_000_000, 993_000].map((ms) => new Date(nowMs - ms).toISOString());
    const range = { source: SOURCE, from: String(from), until: String(until) };
    const { text } = await search({ part: 'histogram', by: 'id', ...range, buckets, measure });
    JSON.parse = parse;
    return { parsed, rows: parse(text).result.length };
  };
  await countParsed('1');
  const [few, many] = [await countParsed('1'), await countParsed('1000')];
  expect([few.rows, many.rows]).toEqual([21, expect.any(Number)]);
  expect(many.rows).toBeGreaterThan(500);
  // What the service writes each second may also be parsed meanwhile, but never hundreds of texts.
  expect(many.parsed - few.parsed).toBeLessThan((many.rows - few.rows) / 10);
});

// `part=fields`: random events, whose fields are searched for, and a field by hand.
const random = createRandom(`fields ${SEED}`);
const any = createAny(random);
const TEXTS = ['a', "it's", '"q"', '\\', '', 'été', '\0', "'); DROP TABLE edge_logs; --", '5', '1e400'];

const searched: SearchedEvent[] = Array.from({ length: 300 }, (_, i) => ({
  source: any([EDGE, AUTH]),
  id: `e${i}`,
  timestamp: (nowMs - 1_000 - i) * 1_000,
  project: 'fields',
  event_message: any(TEXTS),
  metadata: {
    request: { path: any(['/a', '/b', 7]), method: any(['GET', 'POST']), id: `r${i}` },
    response: { status_code: any([200, 404, 500, '500', null]), time: any([1, 2.5, '3', 'none', 40]) },
    level: any(['info', 'error', null]),
    status: any([200, 'x', undefined]),
    'a.b': { 'c "d': any(TEXTS), e: { f: { g: any([1, 2]), h: { deep: 1 } } } },
    list: any([[1], [], ['x']]),
    metadata: any([1, { x: true }]),
    source: any(['inner', {}]),
    long: 'é'.repeat(any([10, 600])),
  },
}));
await storeSearched(core, searched, nowMs);

const findFields = (parameters: Record<string, string>) =>
  search({ part: 'fields', source: `${EDGE},${AUTH}`, ...parameters });

test('a field has its coverage, its values and, if they are numbers, what is between them', async () => {
  const timestamp = new Date(nowMs - 86_400_000).toISOString();
  const sizes = [1, 2, 2, '3', 'none', 40, undefined, null];
  const own = sizes.map((size, i) => ({ id: `size-${i}`, timestamp, project: 'sizes', metadata: { size } }));
  await storeEvents(core, EDGE, own, nowMs);
  const from = new Date(nowMs - 2 * 86_400_000).toISOString();
  const { body, headers } = await findFields({ project: 'sizes', from });
  expect(headers.has('x-sampled')).toBe(false);
  expect(body.result.find(({ field }) => field === 'size')).toEqual({
    ...{ field: 'size', coverage: 0.75, distinct: 5, min: 1, max: 40, p50: 2, p95: 40 },
    top: [{ value: '2', count: 2 }, ...['1', '3', '40', 'none'].map((value) => ({ value, count: 1 }))],
  });
});

test('every field that is listed can be searched for by its name', async () => {
  const { body } = await findFields({ project: 'fields' });
  for (const { field, top } of body.result) {
    const [first] = top as { value: string; count: number }[];
    if (first === undefined || first.value.endsWith('…')) continue;
    const q = `${field}:"${first.value.replaceAll(/["\\]/g, '\\$&')}"`;
    const counted = await search({ q, project: 'fields', part: 'histogram', by: 'project', buckets: '1' });
    const sum = counted.body.result.reduce((all, row) => all + Number(row['count']), 0);
    expect(sum, q).toBe(first.count);
  }
});
