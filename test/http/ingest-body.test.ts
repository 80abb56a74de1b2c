import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { expectError, readMetric } from '../support/http.ts';
import { EDGE, idsOf, openRaw, post, postHead, rowsOf, TO_EDGE } from '../support/ingest.ts';
import { startTestService } from '../support/service.ts';
import { newProject } from '../support/shared-service.ts';

const MIB = 1024 * 1024;
const BODY_BYTES_MAX = 4 * MIB;
const DECODED_BYTES_MAX = 4 * BODY_BYTES_MAX;
const service = await startTestService({
  env: {
    TAILRACE_BODY_BYTES_MAX: String(BODY_BYTES_MAX),
  },
});
afterAll(service.close);
const { url, core } = service;

const brotli = (text: string | Buffer) =>
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } });
const manyEvents = (project: string, count: number) =>
  JSON.stringify(
    Array.from({ length: count }, (_, i) => ({ id: `${i}`, project, message: `GET /${i * 7919}` })),
  );

describe.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotli],
  ['zstd', zstdCompressSync],
] as const)('Content-Encoding %s', (name, compress) => {
  const send = (body: Uint8Array) =>
    post(url, TO_EDGE, new Uint8Array(body), { 'content-encoding': name.toUpperCase() });

  test('is undone', async () => {
    const project = newProject();
    const answer = await send(compress(manyEvents(project, 5_000)));
    expect([answer.status, answer.text]).toEqual([200, '{"message":"Logged!"}']);
    expect(await idsOf(core, project)).toHaveLength(5_000);
  });

  test('of something else, or that ends too soon, is 400, and nothing is stored', async () => {
    const project = newProject();
    const whole = compress(manyEvents(project, 100));
    const bodies = [Buffer.from(manyEvents(project, 1)), whole.subarray(0, 1), whole.subarray(0, -1)];
    for (const body of bodies) {
      const answer = await send(body);
      expectError(answer, 'invalid_request');
      expect(answer.body.error.message).toBe(`the body is not valid ${name.toUpperCase()}, or ends too soon`);
    }
    expect(await idsOf(core, project)).toEqual([]);
  });

  test('of a bomb is 413, by its ratio and by its size, and the next request is stored', async () => {
    for (const [body, reason] of [
      [Buffer.alloc(DECODED_BYTES_MAX - 1, ' '), 'decompresses to more than 200 times its size'],
      [manyEvents('bomb', 350_000), `is larger than ${DECODED_BYTES_MAX} bytes when decompressed`],
    ] as const) {
      const answer = await send(compress(body));
      expectError(answer, 'body_too_large');
      expect(answer.body.error.message).toBe(`the body ${reason}`);
    }
    expect((await post(url, TO_EDGE, [{ project: 'after' }])).status).toBe(200);
  });
});

describe('a body over the limit', () => {
  const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
  test.each([
    ['by its Content-Length, before any of it is sent', { 'content-length': BODY_BYTES_MAX + 1 }, ''],
    // The end never comes.
    ['in chunks, at once', { 'transfer-encoding': 'chunked' }, chunk.repeat(BODY_BYTES_MAX / 65_536 + 1)],
    ['for a wrong key instead, unread', { 'x-api-key': 'nobody', 'content-length': 1e12 }, ''],
  ])('is rejected %s', async (_, headers, sent) => {
    const { socket, received, closed } = await openRaw(url);
    socket.write(postHead(TO_EDGE, headers) + sent);
    const status = 'x-api-key' in headers ? '401 [\\s\\S]*unauthorized' : '413 [\\s\\S]*body_too_large';
    await vi.waitFor(() => expect(received()).toMatch(new RegExp(`^HTTP/1\\.1 ${status}`)), 10_000);
    socket.destroy();
    await closed;
  });
});

test.each([[[0xff]], [[0xed, 0xa0, 0x80]]])(
  'bytes %j, not UTF-8, become U+FFFD, and no event is lost',
  async (bytes) => {
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
  },
);

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

test.each([
  ['10,000 lists deep', `{"a":${nested(10_000)}}`, 'is nested deeper than 100 levels'],
  ['of many keys below', `{"a":[${Array(60_000).fill('{"k":1}')}]}`, 'has more than 10000 keys'],
  ['of a long key', `{"${'k'.repeat(1_001)}":1}`, 'has a key longer than 1000 characters'],
  ['too large', `{"a":"${'x'.repeat(1_100_000)}"}`, 'is larger than 1048576 bytes'],
])('an event %s is rejected, its neighbours are stored', async (_, hostile, reason) => {
  const project = newProject();
  const good = (id: string) => `{"id":"${id}","project":"${project}"}`;
  const answer = await post(url, TO_EDGE, `[${good('1')},${hostile},${good('3')}]`);
  expect([answer.status, answer.body]).toEqual([406, { message: [`event 2: ${reason}`] }]);
  expect(await idsOf(core, project)).toEqual(['1', '3']);
});
