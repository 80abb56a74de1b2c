import { afterAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../src/lib/random.ts';
import { createLabelled } from '../../trial/oracle/labelled-messages.ts';
import { expectError, get, request } from '../support/http.ts';
import { SEED } from '../support/property.ts';
import { PRIVATE_KEY, startTestService, storeEvents } from '../support/service.ts';

// `part=patterns`, on messages of forty templates; and samples.
const nowMs = Date.UTC(2026, 10, 20, 12);
const { core, url, close } = await startTestService({ now: nowMs });
afterAll(close);

const SOURCE = 'postgREST.logs.prod';
const MANY = 'pgbouncer.logs.prod';
const TEMPLATES = 40;
const labelled = createLabelled(createRandom(`patterns ${SEED}`), 6_000);
const toEvent = (message: string, i: number, project = 'aurora') => ({
  id: `e${i}`,
  timestamp: new Date(nowMs - 1_000_000 + i).toISOString(),
  project,
  event_message: message,
  metadata: { level: 'info' },
});
await storeEvents(
  core,
  SOURCE,
  labelled.map(({ message }, i) => toEvent(message, i)),
  nowMs,
);

const ask = (parameters: Record<string, string>, headers = {}) =>
  get(
    url,
    `/api/search?${new URLSearchParams({ part: 'patterns', source: SOURCE, ...parameters })}`,
    headers,
  );

test('finds at least 95 % of forty templates, with their counts and times', async () => {
  const { body, text, headers } = await ask({ limit: '1000' });
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

test('the same events give the same patterns, the most frequent first, at most 50', async () => {
  const [one, other] = await Promise.all([ask({}), ask({})]);
  expect(one.text).toBe(other.text);
  const counts = one.body.result.map(({ count }) => Number(count));
  expect(counts).toEqual(counts.toSorted((a, b) => b - a));
  expect(counts.length).toBeLessThanOrEqual(50);
  const [best] = (await ask({ limit: '1' })).body.result;
  expect(best).toEqual(one.body.result[0]);
  expect(best?.['share']).toBeCloseTo(Number(best?.['count']) / labelled.length, 5);
});

test.each([
  "it's '); DROP TABLE edge_logs; -- \\",
  '\0 nul \u{1D11E} "open',
  '<num> <word> <1> @project {x} $1 \\1',
  '',
  ' \n\t ',
  'é'.repeat(5_000),
])('shows the message %j as one pattern', async (message) => {
  await storeEvents(core, MANY, [toEvent(message, 0, 'hostile'), toEvent(message, 1, 'hostile')], nowMs);
  const { body, text } = await ask({ source: MANY, project: 'hostile', q: '' });
  expect(
    body.result.some(({ count }) => Number(count) >= 2),
    text,
  ).toBe(true);
});

describe('of many messages', () => {
  const count = 60_000;
  const names = Array.from({ length: 9_000 }, (_, i) =>
    [...String(i)].map((d) => 'abcdefghij'[Number(d)]).join(''),
  );
  const messages = Array.from({ length: count }, (_, i) => {
    if (i % 3 === 0) return 'ready';
    return i % 2 === 0 ? `user ${names[i % names.length]} logged in` : `task ${i} done`;
  });

  test('reads a sample, says its share, and scales templates with many words', async () => {
    await storeEvents(
      core,
      MANY,
      messages.map((message, i) => toEvent(message, i, 'many')),
      nowMs,
    );
    const { body, headers } = await ask({ source: MANY, project: 'many' });
    expect(headers.get('x-sampled')).toBe('0.5');
    expect(body.result).toHaveLength(3);
    for (const { pattern, share } of body.result) {
      expect(['ready', 'user <word> logged in', 'task <num> done']).toContain(pattern);
      expect(share).toBeCloseTo(1 / 3, 1);
    }
    const sum = body.result.reduce((all, row) => all + Number(row['count']), 0);
    expect(sum / count).toBeCloseTo(0.5, 1);
  });

  test('summarizes fields and compares by samples, too', async () => {
    const fields = await ask({ source: MANY, project: 'many', part: 'fields' });
    expect(fields.headers.get('x-sampled')).toBe('0.25');
    expect(fields.body.result.find(({ field }) => field === 'metadata.level')).toMatchObject({ coverage: 1 });
    const compared = await ask({ source: MANY, project: 'many', part: 'compare', q: 'ready' });
    expect(Number(compared.headers.get('x-sampled'))).toBeLessThan(1);
    const level = compared.body.result.find(({ field }) => field === 'level');
    expect(level).toMatchObject({ value: 'info', share: 1, against_share: 1 });
  });
});

test('a key that pins project sees patterns of its own events alone', async () => {
  const created = await request(url, '/api/keys', {
    method: 'POST',
    headers: { 'x-api-key': PRIVATE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'a test', scopes: ['query'], pins: { project: 'borealis' } }),
  });
  const { key } = JSON.parse(created.text) as { key: string };
  expect((await ask({}, { 'x-api-key': key })).body.result).toEqual([]);
  expectError(await ask({ project: 'aurora' }, { 'x-api-key': key }), 'forbidden');
});

test('answers in every format; a live tail is rejected', async () => {
  for (const format of ['ndjson', 'csv', 'arrow', 'parquet'])
    expect((await ask({ format })).status).toBe(200);
  expectError(await ask({}, { accept: 'text/event-stream' }), 'not_acceptable');
});
