import { describe, expect, test } from 'vitest';
import { expectError, QUERY_PATH, request, sendRaw } from '../support/http.ts';
import { PRIVATE_KEY } from '../support/service.ts';
import { shareService } from '../support/shared-service.ts';

const service = await shareService();
const { url } = service;
const LOGS = `${QUERY_PATH}/logs.all?project=p1`;

async function createKey(): Promise<string> {
  const { record } = await service.service.keyring.create({ name: 'x', scopes: ['query'], pins: {} });
  return record.id;
}

// Requests as many clients send them: `Content-Type: application/json`, and no body.
describe.each([
  ['without a length', ''],
  ['in chunks, none of which has a byte', 'transfer-encoding: chunked\r\n'],
])('an empty JSON body %s', (_name, head) => {
  async function send(method: string, path: string, type = 'Application/JSON; charset=utf-8') {
    const lines = `host: a\r\nconnection: close\r\nx-api-key: ${PRIVATE_KEY}\r\ncontent-type: ${type}\r\n${head}`;
    const body = head.includes('chunked') ? '0\r\n\r\n' : '';
    const text = await sendRaw(url, `${method} ${path} HTTP/1.1\r\n${lines}\r\n${body}`);
    return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), text };
  }

  test('is no body: DELETE revokes a key, and POST of an endpoint goes by its URL', async () => {
    const revoked = await send('DELETE', `/api/keys/${await createKey()}`, 'application/json');
    expect([revoked.status, revoked.text]).toEqual([200, expect.stringContaining('"revoked_at":"2')]);
    const answer = await send('POST', LOGS);
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('{"result":[]}')]);
  });

  test.each([
    ['POST', '/api/keys'],
    ['PATCH', '/api/keys/x'],
    ['POST', '/api/logs?source_name=gotrue.logs.prod'],
    ['POST', '/v1/logs'],
  ])('is reported as missing at %s %s', async (method, path) => {
    const { status, text } = await send(method, path);
    expect([status, text]).toEqual([400, expect.stringContaining('"invalid_request"')]);
    expect(text).toMatch(/"message":"[^"]*(?:body|JSON)/);
  });
});

const post = (path: string, body: string, type = 'application/json') =>
  request(url, path, { method: 'POST', headers: { 'content-type': type }, body });

test.each(['/api/keys', '/api/logs?source_name=postgres.logs', '/v1/logs', LOGS, '/mcp'])(
  'a body that is not JSON is rejected with its place at %s',
  async (path) => {
    const answer = await post(path, '{"a": 1,\n "é": query}');
    expectError(answer, 'invalid_request');
    const message = 'is not valid JSON from line 2, column 7 on';
    expect(answer.body.error.message).toBe(`the body ${message}`);
    const place = { position: 15, line: 2, column: 7 };
    expect(answer.body.error.errors).toEqual([{ parameter: 'body', message, ...place }]);
  },
);
