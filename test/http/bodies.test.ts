import { expect, test } from 'vitest';
import { expectError, post, QUERY_PATH, sendRaw } from '../support/http.ts';
import { newProject, PRIVATE_KEY, shareService } from '../support/service.ts';

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
