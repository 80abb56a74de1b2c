import { expect, test } from 'vitest';
import { expectError, get, post, QUERY_PATH, sendRaw } from '../support/http.ts';
import { type AnswerBody, shareService } from '../support/service.ts';

const { url } = await shareService();
const PATH = `${QUERY_PATH}/usage.api-counts?project=p1&interval=hourly`;

/** A raw answer as the parts that the error contract speaks of. */
function parseRaw(raw: string) {
  const [head = '', text = ''] = raw.split('\r\n\r\n');
  const [line = '', ...lines] = head.split('\r\n');
  const headers = new Headers(
    lines.map((one) => [one.slice(0, one.indexOf(':')), one.slice(one.indexOf(':') + 1)]),
  );
  return { status: Number(line.split(' ')[1]), headers, body: JSON.parse(text) as AnswerBody };
}

test('a URL is answered up to the limit and rejected a byte beyond it', async () => {
  const fill = 262_144 - PATH.length - '&junk='.length;
  expect((await get(url, `${PATH}&junk=${'x'.repeat(fill)}`)).status).toBe(200);
  expectError(await get(url, `${PATH}&junk=${'x'.repeat(fill + 1)}`), 'uri_too_long', '262144 bytes');
});

test.each([
  ['a header beyond the limit', `GET / HTTP/1.1\r\nHost: a\r\nX-Big: ${'x'.repeat(400_000)}\r\n\r\n`],
  ['a URL beyond it', `GET /${'x'.repeat(400_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
])('%s is answered 414 and the connection is closed', async (_what, bytes) => {
  expectError(parseRaw(await sendRaw(url, bytes)), 'uri_too_long');
});

test.each([
  ['the start of TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\r\n\r\n'],
  [
    'a length and chunks',
    `POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  ['a control character in a header', `GET ${PATH} HTTP/1.1\r\nHost: a\r\nX-Api-Key: a\0b\r\n\r\n`],
])('%s on the socket is answered 400 and the connection is closed', async (_what, bytes) => {
  expectError(parseRaw(await sendRaw(url, bytes)), 'invalid_request');
});

test('more parameters than an endpoint may have are rejected, in the URL before the key is looked at', async () => {
  const many = Array.from({ length: 1_001 }, (_, i) => `n${i}`);
  expectError(await get(url, `${PATH}&${many.join('&')}`, { 'x-api-key': '' }), 'invalid_request');
  const answer = await post(url, PATH, Object.fromEntries(many.map((name) => [name, 'x'])));
  expectError(answer, 'invalid_request', 'more than 1000 parameters');
});
