import { connect } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { expectError, get, QUERY_PATH, sendRaw } from '../support/http.ts';
import { type AnswerBody, PRIVATE_KEY, startTestService } from '../support/service.ts';

const service = await startTestService({
  env: { TAILRACE_REQUEST_TIMEOUT_MS: '500', TAILRACE_URL_BYTES_MAX: '250000' },
});
afterAll(service.close);
const { url } = service;
const PATH = `${QUERY_PATH}/logs.all?project=p1`;

/** A raw answer as the parts that the error contract speaks of. */
function parseRaw(raw: string) {
  const [head = '', text = ''] = raw.split('\r\n\r\n');
  const [line = '', ...lines] = head.split('\r\n');
  const headers = new Headers(
    lines.map((one) => [one.slice(0, one.indexOf(':')), one.slice(one.indexOf(':') + 1)]),
  );
  return { status: Number(line.split(' ')[1]), headers, body: JSON.parse(text) as AnswerBody };
}

test('a URL of 200 KB is answered', async () => {
  const answer = await get(url, `${PATH}&junk=${'x'.repeat(200_000)}`);
  expect([answer.status, answer.text]).toEqual([200, '{"result":[]}']);
});

test('a URL is answered up to the limit and refused a byte beyond it', async () => {
  const fill = 250_000 - PATH.length - '&junk='.length;
  expect((await get(url, `${PATH}&junk=${'x'.repeat(fill)}`)).status).toBe(200);
  const answer = await get(url, `${PATH}&junk=${'x'.repeat(fill + 1)}`);
  expectError(answer, 'uri_too_long');
  expect(answer.body.error.message).toContain('250000 bytes');
});

test.each([
  [
    'headers that exceed the limit',
    `GET ${PATH} HTTP/1.1\r\nHost: a\r\nX-Big: ${'x'.repeat(400_000)}\r\n\r\n`,
  ],
  [
    'many headers that exceed it together',
    `GET / HTTP/1.1\r\nHost: a\r\n${'A: bcdefghij\r\n'.repeat(30_000)}\r\n`,
  ],
  ['a URL that exceeds it', `GET /${'x'.repeat(400_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
])('%s are answered 414 and the connection is closed', async (_what, bytes) => {
  expectError(parseRaw(await sendRaw(url, bytes)), 'uri_too_long');
});

test.each([
  ['words', 'hello there\r\n\r\n'],
  ['the start of TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\r\n\r\n'],
  ['NULs', `${'\0'.repeat(100)}\r\n\r\n`],
  ['an unknown method', `BREW ${PATH} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ['a bad version', `GET ${PATH} HTTP/9.9\r\nHost: a\r\n\r\n`],
  ['a header without a colon', `GET ${PATH} HTTP/1.1\r\nHost a\r\n\r\n`],
  ['two lengths', `POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx`],
  [
    'a length and chunks',
    `POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  ['a control character in a header', `GET ${PATH} HTTP/1.1\r\nHost: a\r\nX-Api-Key: a\0b\r\n\r\n`],
  ['a space in the URL', 'GET /health /ready HTTP/1.1\r\nHost: a\r\n\r\n'],
])('%s on the socket are answered 400 and the connection is closed', async (_what, bytes) => {
  expectError(parseRaw(await sendRaw(url, bytes)), 'invalid_request');
});

test.each([
  ['nothing at all', ''],
  ['half of its first line', 'GET /heal'],
  ['all but its last line', `GET ${PATH} HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${PRIVATE_KEY}\r\n`],
])('a client that sends %s within the time loses its connection', async (_what, bytes) => {
  const answer = parseRaw(await sendRaw(url, bytes));
  expect(answer.body.error).toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('500 ms'),
  });
});

test('a client that never stops sending a header, a byte at a time, loses its connection', async () => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname, () => socket.write(`GET ${PATH} HTTP/1.1\r\nX-Slow: `));
  const drip = setInterval(() => socket.write('x'), 50);
  socket.on('error', () => {});
  socket.resume();
  await new Promise((resolve) => socket.on('close', resolve));
  clearInterval(drip);
});

test('after all of these the service answers as before', async () => {
  expect((await get(url, PATH)).status).toBe(200);
});
