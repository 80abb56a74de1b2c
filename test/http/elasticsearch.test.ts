import { expect, test } from 'vitest';
import { post, request } from '../support/http.ts';
import { shareProtocolService } from '../support/protocols.ts';
import { newProject, PUBLIC_KEY } from '../support/service.ts';

const service = await shareProtocolService();
const { url, clock, rows } = service;

const NDJSON = { 'content-type': 'application/x-ndjson', 'x-api-key': PUBLIC_KEY };
const lines = (...all: unknown[]) =>
  all.map((one) => `${typeof one === 'string' ? one : JSON.stringify(one)}\n`).join('');
const now = () => new Date(clock.now).toISOString();

interface Answer {
  readonly errors: boolean;
  readonly items: readonly Readonly<Record<string, { status: number; error?: { reason: string } }>>[];
}

async function bulk(body: string) {
  const answer = await post(url, '/_bulk', body, NDJSON);
  return { ...answer, bulk: JSON.parse(answer.text) as Answer };
}

test('a bulk request is stored with time, message and id, the rest as metadata', async () => {
  const project = newProject();
  const document = `{"@timestamp":"${now()}","message":"m","project":"${project}","n":12345678901234567890,"log":{"level":"warn"},"host":{"name":"h1"},"a.b":[null]}`;
  const answer = await bulk(lines({ create: { _index: 'shop', _id: 'own', _type: '_doc' } }, document));
  expect(answer.headers.get('x-elastic-product')).toBe('Elasticsearch');
  expect([answer.status, answer.bulk.errors]).toEqual([200, false]);
  expect(answer.bulk.items).toMatchObject([{ create: { _index: 'shop', _id: 'own', status: 201 } }]);
  const columns = 'id, event_message, metadata, level, host, toUnixTimestamp64Milli(timestamp) AS at';
  expect(await rows(project, { columns })).toEqual([
    {
      ...{ id: 'own', event_message: 'm', level: 'warn', host: 'h1', at: clock.now },
      metadata: `{"project":"${project}","n":12345678901234567890,"log":{"level":"warn"},"host":{"name":"h1"},"a.b":[null]}`,
    },
  ]);
});

test('a bulk request with bad items stores the others, and says of each what happened', async () => {
  const project = newProject();
  const answer = await bulk(
    lines(
      ...[{ index: {} }, { project, message: 'first' }],
      ...[{ delete: { _index: 'i', _id: '7' } }],
      ...[{ create: {} }, '{"broken":'],
      ...[{ create: {} }, { project, '@timestamp': 'yesterday' }],
      ...[{ create: {} }, `{"a":${'['.repeat(200)}${']'.repeat(200)}}`],
      ...[{ create: { _id: 'same' } }, { project, message: 'once' }],
      ...[{ index: { _id: 'same' } }, { project, message: 'twice' }],
      ...['', { create: {} }, { project, message: 'last' }, { create: {} }],
    ),
  );
  const results = answer.bulk.items.flatMap((item) => Object.entries(item));
  expect(results.map(([action, { status, error }]) => [action, status, error?.reason])).toEqual([
    ['index', 201, undefined],
    ['delete', 400, expect.stringContaining('has the action delete')],
    ['create', 400, 'the document is not valid JSON'],
    ['create', 400, expect.stringContaining('neither ISO 8601')],
    ['create', 400, expect.stringContaining('levels')],
    ['create', 201, undefined],
    ['index', 409, expect.stringContaining('has the _id of an earlier document')],
    ['create', 201, undefined],
    ['create', 400, 'the document has no document on the next line'],
  ]);
  expect(answer.bulk.errors).toBe(true);
  const messages = (await rows(project)).map((row) => row['event_message']);
  expect(messages.toSorted()).toEqual(['first', 'last', 'once']);
});

test('a bulk request is the only way: other paths of the API say so in its form', async () => {
  const client = { 'user-agent': 'elastic-transport-js/9.0.0' };
  for (const [method, path, headers] of [
    ['POST', '/shop/_doc', {}],
    ['GET', '/_xpack', {}],
    ['GET', '/shop', client],
  ] as const) {
    const answer = await request(url, path, { method, headers, ...(method === 'POST' && { body: '{}' }) });
    expect(answer.status, path).toBe(404);
    expect(answer.headers.get('x-elastic-product')).toBe('Elasticsearch');
    expect(JSON.parse(answer.text).error.reason).toContain('/<index>/_bulk');
  }
  expect((await request(url, '/shop', { method: 'HEAD', headers: client })).status).toBe(404);
  expect((await request(url, '/shop')).headers.get('x-elastic-product')).toBeNull();
});

test('a bulk request needs a key, in any of the forms that clients send', async () => {
  const send = async (headers: Record<string, string>) => {
    const all = { ...NDJSON, 'x-api-key': '', ...headers };
    return await request(url, '/_bulk', { method: 'POST', body: '', headers: all });
  };
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const accepted = [
    `ApiKey ${PUBLIC_KEY}`,
    `ApiKey ${base64(`id:${PUBLIC_KEY}`)}`,
    `Basic ${base64(`elastic:${PUBLIC_KEY}`)}`,
    `Bearer ${PUBLIC_KEY}`,
  ];
  for (const authorization of accepted) expect((await send({ authorization })).status).toBe(200);
  for (const authorization of ['ApiKey x', 'Basic %']) {
    const answer = await send({ authorization });
    expect([answer.status, answer.headers.get('x-elastic-product')]).toEqual([401, 'Elasticsearch']);
    expect(JSON.parse(answer.text)).toMatchObject({ status: 401, error: { type: 'unauthorized' } });
  }
});
