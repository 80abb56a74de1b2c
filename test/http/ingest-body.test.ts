import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { expectError, get, readMetric } from '../support/http.ts';
import { idsOf, openRaw, post, postHead, rowsOf, TO_EDGE } from '../support/ingest.ts';
import { startTestService } from '../support/service.ts';

const MIB = 1024 * 1024;
const BODY_BYTES_MAX = 4 * MIB;
const DECODED_BYTES_MAX = 16 * MIB;
const service = await startTestService({
  env: {
    TAILRACE_BODY_BYTES_MAX: String(BODY_BYTES_MAX),
    TAILRACE_DECODED_BYTES_MAX: String(DECODED_BYTES_MAX),
    TAILRACE_REQUEST_TIMEOUT_MS: '1500',
  },
});
afterAll(service.close);
const { url, core } = service;

let projects = 0;
/** A project of its own for each test. */
const newProject = () => `body-${++projects}`;
const CODERS = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: (text: string | Buffer) =>
    brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } }),
  zstd: zstdCompressSync,
};
const encode = (name: keyof typeof CODERS, text: string | Buffer) => new Uint8Array(CODERS[name](text));
const names = Object.keys(CODERS) as (keyof typeof CODERS)[]; // the object is written above
const manyEvents = (project: string, count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: `${i}`, project, message: `GET /rest/v1/${i * 7919}` }));

/** What a failed request must not cost: the next one. */
async function expectToGoOn(): Promise<void> {
  const project = newProject();
  expect((await post(url, TO_EDGE, [{ id: '1', project }])).status).toBe(200);
  expect(await idsOf(core, project)).toEqual(['1']);
}

describe('Content-Encoding', () => {
  test.each(names)('%s is undone', async (name) => {
    const project = newProject();
    const body = encode(name, JSON.stringify(manyEvents(project, 5_000)));
    const answer = await post(url, TO_EDGE, body, { 'content-encoding': name.toUpperCase() });
    expect([answer.status, answer.text]).toEqual([200, '{"message":"Logged!"}']);
    expect(await idsOf(core, project)).toHaveLength(5_000);
  });

  test('identity is none', async () => {
    const answer = await post(url, TO_EDGE, [], { 'content-encoding': 'identity' });
    expect(answer.status).toBe(200);
  });

  test('gzip in several members is one body', async () => {
    const project = newProject();
    const text = JSON.stringify(manyEvents(project, 10));
    const body = new Uint8Array(Buffer.concat([gzipSync(text.slice(0, 50)), gzipSync(text.slice(50))]));
    expect((await post(url, TO_EDGE, body, { 'content-encoding': 'gzip' })).status).toBe(200);
    expect(await idsOf(core, project)).toHaveLength(10);
  });

  test.each(names)('%s of something else is 400', async (name) => {
    const project = newProject();
    const body = JSON.stringify([{ id: '1', project }]);
    const answer = await post(url, TO_EDGE, body, { 'content-encoding': name });
    expectError(answer, 'invalid_request');
    expect(answer.body.error.message).toBe(`the body is not valid ${name}, or ends too soon`);
    expect(await idsOf(core, project)).toEqual([]);
  });

  test.each(names)('%s that ends too soon is 400', async (name) => {
    const project = newProject();
    const whole = encode(name, JSON.stringify(manyEvents(project, 100)));
    for (const length of [0, 1, whole.length / 2, whole.length - 1]) {
      const answer = await post(url, TO_EDGE, whole.slice(0, length), { 'content-encoding': name });
      expectError(answer, 'invalid_request');
    }
    expect(await idsOf(core, project)).toEqual([]);
  });

  test.each(['compress', 'gzip, gzip', 'utf-8', '__proto__', 'constructor'])('%s is 415', async (name) => {
    const answer = await post(url, TO_EDGE, [], { 'content-encoding': name });
    expectError(answer, 'unsupported_media_type');
    expect(answer.body.error.message).toContain('use gzip, x-gzip, deflate, br, zstd');
  });

  test.each(names)('a bomb of %s is 413, by its ratio and by its size', async (name) => {
    for (const [body, reason] of [
      [Buffer.alloc(DECODED_BYTES_MAX - 1, ' '), 'decompresses to more than 200 times its size'],
      [
        JSON.stringify(manyEvents('bomb', 270_000)),
        `is larger than ${DECODED_BYTES_MAX} bytes when decompressed`,
      ],
    ] as const) {
      const answer = await post(url, TO_EDGE, encode(name, body), { 'content-encoding': name });
      expectError(answer, 'body_too_large');
      expect(answer.body.error.message).toBe(`the body ${reason}`);
    }
    await expectToGoOn();
  });

  test('what compresses well is no bomb as long as it is small', async () => {
    const project = newProject();
    const text = JSON.stringify([{ id: '1', project, message: 'x'.repeat(900_000) }]);
    const answer = await post(url, TO_EDGE, encode('gzip', text), { 'content-encoding': 'gzip' });
    expect([answer.status, await idsOf(core, project)]).toEqual([200, ['1']]);
  });
});

describe('a body over the limit', () => {
  test('is 413 with its size told, however it is sent', async () => {
    const large = new Uint8Array(100 * 1024 * 1024).fill(0x20);
    const answer = await post(url, TO_EDGE, large);
    expectError(answer, 'body_too_large');
    expect(answer.body.error.message).toBe(`the body is larger than ${BODY_BYTES_MAX} bytes`);
    await expectToGoOn();
  });

  test('is refused by its Content-Length, before any of it is sent', async () => {
    const { socket, received, closed } = await openRaw(url);
    socket.write(postHead(TO_EDGE, { 'content-length': BODY_BYTES_MAX + 1 }));
    await vi.waitFor(() => expect(received()).toMatch(/^HTTP\/1\.1 413 [\s\S]*body_too_large/), 10_000);
    await closed;
  });

  test('in chunks is refused as soon as it is too large', async () => {
    const { socket, received, closed } = await openRaw(url);
    socket.write(postHead(TO_EDGE, { 'transfer-encoding': 'chunked' }));
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
    socket.write(chunk.repeat(BODY_BYTES_MAX / 65_536 + 1)); // the end never comes
    await vi.waitFor(() => expect(received()).toMatch(/^HTTP\/1\.1 413 [\s\S]*body_too_large/), 10_000);
    await closed;
    await expectToGoOn();
  });

  test('exactly at the limit is taken', async () => {
    const answer = await post(url, TO_EDGE, `[${' '.repeat(BODY_BYTES_MAX - 2)}]`);
    expect(answer.status).toBe(200);
  });
});

describe('what is no JSON, or not of events', () => {
  test.each([
    ['', 1, 1],
    ['[', 1, 2],
    ['{"batch":[', 1, 11],
    ['[{"id":"1"},]', 1, 13],
    ['[{"id":"1"}', 1, 12],
    ['NaN', 1, 1],
    ['[NaN]', 1, 2],
    ['[{"a":Infinity}]', 1, 7],
    ["[{'a':1}]", 1, 3],
    ['[{}]x', 1, 5],
    ['\ufeff[]', 1, 1],
    ['[{"a":"\u0000"}]', 1, 7],
    ['[{"a":"\n"}]', 1, 7],
    ['[{"a":"\\x"}]', 1, 7],
    ['[\n  {"a":1}\n  {"a":2}\n]', 3, 3],
  ])('%j is 400, with its place', async (text, line, column) => {
    const answer = await post(url, TO_EDGE, text);
    expectError(answer, 'invalid_request');
    expect(answer.body.error.message).toBe(
      `the body is not valid JSON from line ${line}, column ${column} on`,
    );
    expect(answer.body.error.errors).toMatchObject([{ parameter: 'body', line, column }]);
  });

  test.each(['"text"', 'null', '1', 'true'])('%s is 400 and told what a body is', async (text) => {
    const answer = await post(url, TO_EDGE, text);
    expectError(answer, 'invalid_request');
    expect(answer.body.error.message).toBe(
      'the body must be an array of events, {"batch": […]} or one event',
    );
  });

  test.each([[[0xff]], [[0xc0, 0x80]], [[0xed, 0xa0, 0x80]], [[0xc3]]])(
    'bytes %j, not UTF-8, become U+FFFD, and no event is lost',
    async (bytes) => {
      const project = `bytes-${Buffer.from(bytes).toString('hex')}`;
      const broken = Buffer.concat([
        Buffer.from(`{"project":"${project}","event_message":"a`),
        Buffer.from(bytes),
        Buffer.from('b"}'),
      ]);
      const good = Buffer.from(`{"project":"${project}","event_message":"é"}`);
      const json = Buffer.concat([Buffer.from('['), good, Buffer.from(','), broken, Buffer.from(']')]);
      const lines = Buffer.concat([broken, Buffer.from('\n'), good]);
      const count = () =>
        readMetric(url, 'tailrace_events_repaired_total', { source: 'cloudflare.logs.prod' });
      const before = await count();
      for (const [body, type] of [
        [json, 'application/json'],
        [lines, 'application/x-ndjson'],
      ] as const) {
        const answer = await post(url, TO_EDGE, new Uint8Array(body), { 'content-type': type });
        expect([answer.status, answer.headers.get('x-events-repaired')]).toEqual([200, '1']);
      }
      expect((await count()) - before).toBe(2);
      const { body } = await get(url, `/api/endpoints/query/logs.all?project=${project}`);
      const messages = body.result.map((row) => String(row['event_message']));
      const repaired = `a${Buffer.from(bytes).toString()}b`;
      expect(repaired).toContain('\ufffd');
      expect(messages.toSorted()).toEqual([repaired, repaired, 'é', 'é'].toSorted());
    },
  );
});

describe('hostile events', () => {
  const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth);

  test.each([
    ['10,000 lists deep', `{"a":${nested(10_000, '[', ']')}}`, 'is nested deeper than 100 levels'],
    [
      '10,000 objects deep',
      `{"a":${nested(10_000, '{"a":', '}').replace('{"a":}', '{}')}}`,
      'is nested deeper than 100 levels',
    ],
    [
      'of many keys',
      `{${Array.from({ length: 60_000 }, (_, i) => `"k${i}":1`)}}`,
      'has more than 10000 keys',
    ],
    ['of the same key, many times', `{${Array(60_000).fill('"k":1')}}`, 'has more than 10000 keys'],
    ['of many keys below', `{"a":[${Array(60_000).fill('{"k":1}')}]}`, 'has more than 10000 keys'],
    ['of a long key', `{"${'k'.repeat(1_001)}":1}`, 'has a key longer than 1000 characters'],
    ['of a long key below', `{"a":[{"${'k'.repeat(1_001)}":1}]}`, 'has a key longer than 1000 characters'],
    ['of a long id', `{"id":"${'x'.repeat(257)}"}`, 'has an id of more than 256 characters'],
    [
      'too large',
      `{"a":[${Array.from({ length: 200_000 }, (_, i) => i * 7919)}]}`,
      'is larger than 1048576 bytes',
    ],
  ])('one %s is refused, its neighbours are stored', async (_, hostile, reason) => {
    const project = newProject();
    const good = (id: string) => `{"id":"${id}","project":"${project}"}`;
    const body = encode('zstd', `[${good('1')},${hostile},${good('3')}]`);
    const answer = await post(url, TO_EDGE, body, { 'content-encoding': 'zstd' });
    expect([answer.status, answer.body]).toEqual([406, { message: [`event 2: ${reason}`] }]);
    expect(await idsOf(core, project)).toEqual(['1', '3']);
  });

  test('a million keys in one body are read in one go', async () => {
    const keys = Array.from({ length: 1_000_000 }, (_, i) => `"${i}":0`).join();
    const answer = await post(url, TO_EDGE, encode('gzip', `{${keys}}`), { 'content-encoding': 'gzip' });
    expect([answer.status, answer.body]).toEqual([
      406,
      { message: [expect.stringMatching(/^event 1: is larger/)] },
    ]);
  });

  test.each([
    ['numbers beyond a double', '{"n":1e999,"m":-1e-999,"l":123456789012345678901234567890}'],
    ['lone surrogates', '{"s":"\\ud800","\\udfff":1}'],
    ['NUL', '{"s":"a\\u0000b","\\u0000":1}'],
    [
      'names of what objects inherit',
      '{"__proto__":{"polluted":1},"constructor":1,"toString":null,"hasOwnProperty":[]}',
    ],
    ['duplicate keys', '{"a":1,"a":2,"a":{"b":1,"b":2}}'],
    ['the texts NaN and null', '{"a":"NaN","b":"null","c":"\\\\N"}'],
    ['98 levels', nested(98, '[', ']')],
    ['no object', '"text"'],
  ])('metadata of %s is kept as it came', async (_, metadata) => {
    const project = newProject();
    const answer = await post(url, TO_EDGE, `[{"id":"1","project":"${project}","metadata":${metadata}}]`);
    expect(answer.status).toBe(200);
    expect(await rowsOf(core, project, { columns: 'metadata' })).toEqual([{ metadata }]);
    const { text } = await get(url, `/api/endpoints/query/logs.all?project=${project}`);
    expect(text).toContain(`"metadata":${metadata}`);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('members of those names beside metadata are kept too', async () => {
    const project = newProject();
    const text = `{"__proto__":{"project":"other"},"constructor":1,"id":"1","project":"${project}"}`;
    expect((await post(url, TO_EDGE, text)).status).toBe(200);
    expect(await rowsOf(core, project, { columns: 'attributes' })).toEqual([
      { attributes: '{"__proto__":{"project":"other"},"constructor":1}' },
    ]);
  });

  test('of two members of one name the last counts', async () => {
    const project = newProject();
    const text = `{"id":"1","id":"2","project":"x","project":"${project}","event_message":"a","event_message":"b"}`;
    expect((await post(url, TO_EDGE, text)).status).toBe(200);
    expect(await rowsOf(core, project, { columns: 'id, event_message' })).toEqual([
      { id: '2', event_message: 'b' },
    ]);
  });
});

describe('a body that does not come', () => {
  test.each([
    ['plain', {}],
    ['compressed', { 'content-encoding': 'gzip' }],
  ])('whole, the client having hung up, stores nothing (%s)', async (_, headers) => {
    const project = newProject();
    const line = `{"id":"1","project":"${project}"}\n`;
    const body = 'content-encoding' in headers ? gzipSync(line) : Buffer.from(line);
    const route = '/api/logs';
    const counted = () => readMetric(url, 'tailrace_http_requests_total', { route, status: '499' });
    const before = await counted();
    const { socket, closed } = await openRaw(url);
    const all = { ...headers, 'content-type': 'application/x-ndjson', 'content-length': body.length + 100 };
    socket.write(postHead(TO_EDGE, all));
    await new Promise((resolve) => socket.write(body, resolve));
    socket.destroy();
    await closed;
    await vi.waitFor(async () => expect(await counted()).toBe(before + 1), 10_000);
    expect(await idsOf(core, project)).toEqual([]);
    await expectToGoOn();
  });

  test('in time is cut off, and nothing of it is stored', async () => {
    const project = newProject();
    const line = `{"id":"1","project":"${project}"}\n`;
    const { socket, received, closed } = await openRaw(url);
    socket.write(postHead(TO_EDGE, { 'content-type': 'application/x-ndjson', 'content-length': 1_000 }));
    socket.write(line);
    const drip = setInterval(() => socket.write(' '), 100);
    await closed;
    clearInterval(drip);
    expect(received()).toMatch(/^(HTTP\/1\.1 400 [\s\S]*did not arrive within 1500 ms[\s\S]*)?$/);
    expect(await idsOf(core, project)).toEqual([]);
    await expectToGoOn();
  });

  test('is not waited for when the key is wrong', async () => {
    const { socket, received } = await openRaw(url);
    socket.write(postHead(TO_EDGE, { 'x-api-key': 'nobody', 'content-length': 1e12 }));
    await vi.waitFor(() => expect(received()).toMatch(/^HTTP\/1\.1 401 [\s\S]*"unauthorized"/), 10_000);
    socket.destroy();
  });

  test('is not waited for when its type is wrong', async () => {
    const { socket, received } = await openRaw(url);
    socket.write(postHead(TO_EDGE, { 'content-type': 'text/plain', 'content-length': 1e12 }));
    await vi.waitFor(
      () => expect(received()).toMatch(/^HTTP\/1\.1 415 [\s\S]*"unsupported_media_type"/),
      10_000,
    );
    socket.destroy();
  });
});
