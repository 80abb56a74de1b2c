import { expect, test } from 'vitest';
import { expectError, get, post, QUERY_PATH, sendRaw } from '../support/http.ts';
import { type AnswerBody, newProject, PRIVATE_KEY, shareService } from '../support/service.ts';

const service = await shareService();
const { url } = service;
const PROJECT = newProject(); // without events
const LOGS = `${QUERY_PATH}/logs.all?project=${PROJECT}`;

// Requests as many clients send them: `Content-Type: application/json`, and no body.
test.each([
  ['without a length', ''],
  ['in chunks, none of which has a byte', 'transfer-encoding: chunked\r\n'],
  ['of an empty object', 'content-length: 2\r\n'],
])(
  'an empty JSON body %s is no body: DELETE revokes a key, and POST of an endpoint goes by its URL',
  async (_, head) => {
    const send = async (line: string) => {
      const lines = `host: a\r\nconnection: close\r\nx-api-key: ${PRIVATE_KEY}\r\ncontent-type: Application/JSON\r\n${head}`;
      return await sendRaw(
        url,
        `${line} HTTP/1.1\r\n${lines}\r\n${head.includes('chunked') ? '0\r\n\r\n' : head && '{}'}`,
      );
    };
    const { record } = await service.service.keyring.create({ name: 'x', scopes: ['query'], pins: {} });
    expect(await send(`DELETE /api/keys/${record.id}`)).toMatch(/^HTTP\/1\.1 200 [\s\S]*"revoked_at":"2/);
    expect(await send(`POST ${LOGS}`)).toMatch(/^HTTP\/1\.1 200 [\s\S]*\{"result":\[\]\}/);
  },
);

// Read by nobody, it would be the answer to another question. The first request of each fills the cache, and the listener's memory.
test.each([
  ['GET', `${QUERY_PATH}/usage.api-counts?project=p1&interval=daily`, / or the body by POST$/],
  ['HEAD', `${QUERY_PATH}/usage.api-counts?project=p1&interval=daily`, /^$/],
  ['GET', '/api/keys', /^GET does not accept a body here; send parameters in the query string$/],
  ['DELETE', '/api/keys/none', /^DELETE does not accept a body/],
  ['POST', '/auth/logout', /^POST does not accept a body here; send none$/],
])('%s %s with a body is rejected, however it is sent', async (method, path, message) => {
  const body = '{"sql":"SELECT 1"}';
  const send = (head: string, sent = '') => {
    const lines = `host: a\r\nconnection: close\r\nx-api-key: ${PRIVATE_KEY}\r\ncontent-type: application/json\r\n`;
    return sendRaw(url, `${method} ${path} HTTP/1.1\r\n${lines}${head}\r\n\r\n${sent}`);
  };
  for (let i = 0; i < 2; i++) expect(await send('content-length: 0')).not.toMatch(/does not accept/);
  for (const sent of [
    await send(`content-length: ${body.length}`, body),
    await send(`content-type: text/plain\r\ncontent-length: ${body.length}`, body),
    await send('transfer-encoding: chunked', `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`),
  ]) {
    expect(sent).toMatch(/^HTTP\/1\.1 400 /);
    const [, text = ''] = sent.split('\r\n\r\n');
    expect(text === '' ? '' : JSON.parse(text).error.message).toMatch(message);
  }
});

test.each(['/api/keys', '/api/logs?source_name=postgres.logs', '/v1/logs', LOGS, '/mcp'])(
  'a body that is not JSON is rejected with its place at %s',
  async (path) => {
    const answer = await post(url, path, '{"a": 1,\n "é": query}');
    expectError(answer, 'invalid_request');
    const message = 'is not valid JSON at line 2, column 7';
    expect(answer.body.error.message).toBe(`the body ${message}`);
    const place = { position: 15, line: 2, column: 7 };
    expect(answer.body.error.errors).toEqual([{ parameter: 'body', message, ...place }]);
  },
);

test.each(['\n', ' ', '', '\r\n\r\n'])(
  'objects with %j between them are no body of JSON, but NDJSON, it says',
  async (space) => {
    const answer = await post(url, '/api/logs?source_name=postgres.logs', ` {"a":"}{"}${space}{"a":{}}`);
    expectError(answer, 'invalid_request', /one object a line with Content-Type: application\/x-ndjson$/);
  },
);

test('a byte order mark is no part of a body', async () => {
  expect((await post(url, `${QUERY_PATH}/logs.all`, `\ufeff{"project":"${PROJECT}"}`)).text).toBe(
    '{"result":[]}',
  );
  expect((await post(url, LOGS, '\ufeff')).status).toBe(200);
});

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
