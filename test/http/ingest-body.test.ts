import { brotliCompressSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { EDGE, idsOf, openRaw, post, postHead, readMetric, rowsOf, TO_EDGE } from '../support/http.ts';
import { newProject, ownService } from '../support/service.ts';

const BODY_BYTES_MAX = 4 * 1024 * 1024;
const service = await ownService({ env: { TAILRACE_BODY_BYTES_MAX: String(BODY_BYTES_MAX) } });
const { url, core } = service;

test('Content-Encoding is undone, in any case', async () => {
  const project = newProject();
  const events = Array.from({ length: 5_000 }, (_, i) => ({ id: `${i}`, project }));
  const body = new Uint8Array(brotliCompressSync(JSON.stringify(events)));
  const answer = await post(url, TO_EDGE, body, { 'content-encoding': 'BR' });
  expect([answer.status, answer.text]).toEqual([200, '{"message":"Logged!"}']);
  expect(await idsOf(core, project)).toHaveLength(5_000);
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
