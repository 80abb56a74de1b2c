import { brotliCompressSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { writeHeader } from '../../src/lib/network.ts';
import {
  EDGE,
  expectError,
  get,
  idsOf,
  openRaw,
  post,
  postHead,
  readMetric,
  rowsOf,
  TO_EDGE,
} from '../support/http.ts';
import { newProject, ownService } from '../support/service.ts';

const BODY_BYTES_MAX = 4 * 1024 * 1024;
const service = await ownService({
  env: { TAILRACE_DEFAULT_PROJECT: 'fallback', TAILRACE_BODY_BYTES_MAX: String(BODY_BYTES_MAX) },
});
const { url, core } = service;
const { keyring } = service.service;
const EDGE_ID = core.registry.getSource(EDGE).id;
const LOGGED = { message: 'Logged!' };

test.each(['/api/logs', '/logs', '/api/events'].flatMap((path) => [path, `${path}/json`, `${path}/vector`]))(
  '%s accepts events',
  async (path) => {
    const project = newProject();
    const answer = await post(url, `${path}?source_name=${EDGE}`, [{ id: '1', project }]);
    expect([answer.status, answer.body]).toEqual([200, LOGGED]);
    expect(await idsOf(core, project)).toEqual(['1']);
  },
);

describe('the source', () => {
  test.each<[string, string, Record<string, string>, object]>([
    ['source_name', `?source_name=${EDGE}`, {}, {}],
    ['source', `?source=${EDGE_ID.toUpperCase()}`, {}, {}],
    ['X-Source', '', { 'x-source': EDGE_ID }, {}],
    ['X-Collection', '', { 'x-collection': EDGE }, {}],
    ['source_name beside the batch', '', {}, { source_name: EDGE }],
    ['collection beside the batch', '', {}, { collection: EDGE_ID }],
  ])('is named by %s', async (_, query, headers, members) => {
    const project = newProject();
    const body = { ...members, batch: [{ id: '1', project, source: 'nginx' }] };
    expect((await post(url, `/logs${query}`, body, headers)).status).toBe(200);
    expect(await rowsOf(core, project, { columns: 'attributes' })).toEqual([
      { attributes: '{"source":"nginx"}' },
    ]);
  });

  test.each([
    ['in the query string', `?source=${EDGE_ID}&source_name=postgres.logs`, {}, []],
    ['in the body', '', {}, { source: EDGE_ID, source_name: 'postgres.logs', batch: [] }],
  ])('named twice and differently %s is rejected', async (_, query, headers, body) => {
    const answer = await post(url, `/logs${query}`, body, headers);
    expectError(answer, 'invalid_request');
    const message = `the request names two sources, ${EDGE} and postgres.logs; name one`;
    expect(answer.body.error.message).toBe(message);
  });

  test('that does not exist is 404, with those that do, whatever the body', async () => {
    const missing = await post(url, '/logs?source_name=no.such', '[');
    expectError(missing, 'source_not_found', /"no\.such"; there are cloudflare\.logs\.prod, /);
    const inBody = await post(url, '/logs', { source: 'my-app', message: 'hello' });
    expectError(inBody, 'source_not_found', /"my-app"; .*the body names it; for an event .*\?source_name=/);
  });

  test('of events that name none is the general one, also of those that `curl -d` sends', async () => {
    const project = newProject();
    for (const type of ['application/json', 'application/x-www-form-urlencoded']) {
      const answer = await post(url, '/api/logs?source=', [{ source: EDGE_ID, project, message: 'hello' }], {
        'content-type': type,
      });
      expect([answer.status, answer.body]).toEqual([200, LOGGED]);
    }
    const stored = await rowsOf(core, project, { table: 'logs', columns: 'event_message, attributes' });
    const hello = { event_message: 'hello', attributes: `{"source":"${EDGE_ID}"}` };
    expect(stored).toEqual([hello, hello]);
  });
});

const one = (project: string) => `{"id":"1","project":"${project}"}`;
const two = (project: string) => `{"id":"2","project":"${project}"}`;

test.each<[string, string, (project: string) => string, string[]]>([
  ['an array', 'application/json', (p) => `[ ${one(p)} , ${two(p)} ]`, ['1', '2']],
  ['a batch', 'application/json', (p) => `{"batch":[${one(p)},${two(p)}]}`, ['1', '2']],
  ['a batch under an escaped name', 'application/json', (p) => `{"b\\u0061tch":[${one(p)}]}`, ['1']],
  ['one event', 'application/json', one, ['1']],
  ['lines', 'application/x-ndjson; charset=UTF-8', (p) => `\n${one(p)}\r\n \n${two(p)}`, ['1', '2']],
  ['another JSON', 'Application/vnd.logs.v2+json ;charset="UTF-8"', (p) => `[${one(p)}]`, ['1']],
  ['no events', 'application/json', () => '[]', []],
])('the body may be %s', async (_, type, write, ids) => {
  const project = newProject();
  const answer = await post(url, TO_EDGE, write(project), { 'content-type': type });
  expect([answer.status, answer.body]).toEqual([200, LOGGED]);
  expect(await idsOf(core, project)).toEqual(ids);
});

describe('events', () => {
  test('that are rejected are reported by number and reason, with 406, and the others are stored', async () => {
    const project = newProject();
    const at = (ms: number) => new Date(service.clock.now + ms).toISOString();
    const answer = await post(url, TO_EDGE, [
      { id: '1', project },
      'text',
      { id: '3', project, timestamp: at(3_600_001) },
      { id: '4', project, timestamp: at(3_600_000) },
      { id: '5', project, timestamp: at(-36_500 * 86_400_000) },
    ]);
    expect([answer.status, answer.body]).toEqual([
      406,
      {
        message: [
          'event 2: is not a JSON object',
          expect.stringMatching(/^event 3: has a timestamp more than an hour ahead: \d/),
          expect.stringMatching(/^event 5: is older than the 36500 days that cloudflare\.logs\.prod keeps/),
        ],
      },
    ]);
    expect(await idsOf(core, project)).toEqual(['1', '4']);
    const many = await post(url, TO_EDGE, Array(2_500).fill(0));
    const { message } = many.body as unknown as { message: string[] };
    expect([message.length, message[1000]]).toEqual([1001, 'and 1500 more']);
  });

  test('come back through logs.all as they came, with the last of equal keys', async () => {
    const project = newProject();
    const metadata =
      '{"z":null,"a.b":[],"2":{},"1":12345678901234567890,"e":1.50e+400,"__proto__":{"x":1},"d":1,"d":2,' +
      '"s":"\\u0041\\/\\ud83d\\ude00\\u0000é😀","constructor":{"prototype":null}}';
    const micros = service.clock.now * 1000 - 123;
    const body = `[{"id":"é/1","timestamp":${micros},"project":"${project}","event_message":"GET | \\u0000 é","metadata": ${metadata} }]`;
    expect((await post(url, TO_EDGE, body)).status).toBe(200);
    const { text } = await get(url, `/api/endpoints/query/logs.all?project=${project}`);
    expect(text).toBe(
      `{"result":[{"id":"é/1","timestamp":${micros},"event_message":"GET | \\u0000 é","metadata":${metadata.replace('"d":1,', '')}}]}`,
    );
  });

  test('belong to their own project, else to that of X-Project, else to the default', async () => {
    const [own, header] = [newProject(), `${newProject()}-é`];
    const events = [{ id: own, project: own }, { id: header }, { id: `${header}-number`, project: 5 }];
    await post(url, TO_EDGE, events, { 'x-project': writeHeader(header) });
    await post(url, TO_EDGE, [{ id: `${header}-default` }]);
    expect(await idsOf(core, own)).toEqual([own]);
    expect(await idsOf(core, header)).toEqual([header, `${header}-number`]);
    expect(await idsOf(core, 'fallback')).toContain(`${header}-default`);
  });
});

test.each([
  ['for queries', { scopes: ['query'] }, 'forbidden'],
  ['that is wrong', undefined, 'unauthorized'],
] as const)('a key %s stores nothing, and learns no more', async (_, grant, code) => {
  const project = newProject();
  const { key } = grant === undefined ? { key: 'nobody' } : await keyring.create({ name: 'k', ...grant });
  const headers = { 'x-api-key': key };
  expectError(await post(url, TO_EDGE, [{ id: '1', project }], headers), code);
  expectError(await post(url, '/logs?source_name=no.such', 'x', { ...headers, 'content-type': 'a/b' }), code);
  expect(await idsOf(core, project)).toEqual([]);
});

test('Content-Encoding is undone, in any case', async () => {
  const project = newProject();
  const events = Array.from({ length: 5_000 }, (_, i) => ({ id: `${i}`, project }));
  const body = new Uint8Array(brotliCompressSync(JSON.stringify(events)));
  const answer = await post(url, TO_EDGE, body, { 'content-encoding': 'BR' });
  expect([answer.status, answer.text]).toEqual([200, '{"message":"Logged!"}']);
  expect(await idsOf(core, project)).toHaveLength(5_000);
});

const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
test.each([
  ['by its Content-Length, before any of it is sent', { 'content-length': BODY_BYTES_MAX + 1 }, ''],
  // The end never comes.
  ['in chunks, at once', { 'transfer-encoding': 'chunked' }, chunk.repeat(BODY_BYTES_MAX / 65_536 + 1)],
  ['for a wrong key instead, unread', { 'x-api-key': 'nobody', 'content-length': 1e12 }, ''],
])('a body over the limit is rejected %s', async (_, headers, sent) => {
  const { socket, received, closed } = await openRaw(url);
  socket.write(postHead(TO_EDGE, headers) + sent);
  const status = 'x-api-key' in headers ? '401 [\\s\\S]*unauthorized' : '413 [\\s\\S]*body_too_large';
  await vi.waitFor(() => expect(received()).toMatch(new RegExp(`^HTTP/1\\.1 ${status}`)), 10_000);
  socket.destroy();
  await closed;
});

test('bytes that are not UTF-8 become U+FFFD, and no event is lost', async () => {
  const bytes = [0xed, 0xa0, 0x80];
  const project = newProject();
  const repaired = `a${Buffer.from(bytes).toString()}b`;
  const parts = [`{"project":"${project}","event_message":"a`, Buffer.from(bytes), 'b"}'];
  const broken = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const good = Buffer.from(`{"project":"${project}","event_message":"é"}`);
  const json = Buffer.concat([Buffer.from('['), good, Buffer.from(','), broken, Buffer.from(']')]);
  const lines = Buffer.concat([broken, Buffer.from('\n'), good]);
  const count = () => readMetric(url, 'tailrace_events_repaired_total', { source: EDGE });
  const before = await count();
  for (const [body, type] of [
    [json, 'application/json'],
    [lines, 'application/x-ndjson'],
  ] as const) {
    const answer = await post(url, TO_EDGE, new Uint8Array(body), { 'content-type': type });
    expect([answer.status, answer.headers.get('x-events-repaired')]).toEqual([200, '1']);
  }
  expect((await count()) - before).toBe(2);
  const stored = await rowsOf(core, project, { columns: 'event_message' });
  const messages = stored.map((row) => String(row['event_message']));
  expect(messages.toSorted()).toEqual([repaired, repaired, 'é', 'é'].toSorted());
});
