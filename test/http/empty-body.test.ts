import { afterAll, describe, expect, test } from 'vitest';
import { expectError, QUERY_PATH, request, sendRaw } from '../support/http.ts';
import { PRIVATE_KEY, startTestService } from '../support/service.ts';

const service = await startTestService();
afterAll(service.close);
const { url } = service;

const LOGS = `${QUERY_PATH}/logs.all?project=p1`;

async function createKey(): Promise<string> {
  const { record } = await service.service.keyring.create({ name: 'x', scopes: ['query'], pins: {} });
  return record.id;
}

/** A request as many clients send it: `Content-Type: application/json`, and no body. */
const FORMS = [
  ['without a length', ''],
  ['with a length of 0', 'content-length: 0\r\n'],
  ['in chunks, none of which has a byte', 'transfer-encoding: chunked\r\n'],
] as const;
const TYPES = ['application/json', 'Application/JSON; charset=utf-8'];

async function send(method: string, path: string, head: string, type = TYPES[0]) {
  const lines = `host: a\r\nconnection: close\r\nx-api-key: ${PRIVATE_KEY}\r\ncontent-type: ${type}\r\n${head}`;
  const body = head.includes('chunked') ? '0\r\n\r\n' : '';
  const text = await sendRaw(url, `${method} ${path} HTTP/1.1\r\n${lines}\r\n${body}`);
  const [, status = ''] = /^HTTP\/1\.1 (\d+)/.exec(text) ?? [];
  return { status: Number(status), text };
}

describe.each(FORMS)('an empty JSON body %s', (_name, head) => {
  test.each(TYPES)('of type %s is no body: DELETE revokes the key', async (type) => {
    const path = `/api/keys/${await createKey()}`;
    const answer = await send('DELETE', path, head, type);
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"revoked_at":"2')]);
  });

  test('leaves POST of an endpoint to the parameters of its URL', async () => {
    const answer = await send('POST', LOGS, head);
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('{"result":[]}')]);
    const refused = await send('POST', `${QUERY_PATH}/logs.all`, head);
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('"invalid_parameter"')]);
  });

  test('makes a token and a successor of a key with what they have by default', async () => {
    expect((await send('POST', '/api/tokens', head)).status).toBe(201);
    expect((await send('POST', `/api/keys/${await createKey()}/rotate`, head)).status).toBe(201);
  });

  test('does not hide that nothing is at a path, or that the method is not allowed', async () => {
    expect((await send('POST', '/nowhere', head)).status).toBe(404);
    for (const path of ['/health', '/metrics', '/openapi.json', '/api/self', '/api/keys/log', LOGS])
      expect((await send('DELETE', path, head)).status).toBe(405);
  });

  test('is reported as missing where a route needs one', async () => {
    const keyPath = `/api/keys/${await createKey()}`;
    for (const [method, path] of [
      ['POST', '/api/keys'],
      ['PATCH', keyPath],
      ['POST', '/api/logs?source_name=gotrue.logs.prod'],
      ['POST', '/v1/logs'],
    ] as const) {
      const { status, text } = await send(method, path, head);
      expect([path, status, text]).toEqual([path, 400, expect.stringContaining('"invalid_request"')]);
      expect(text).toMatch(/"message":"[^"]*(?:body|JSON)/);
    }
  });
});

test('a JSON body that is not JSON is refused as before', async () => {
  for (const body of ['{', ' ', '{"__proto__":1}']) {
    const headers = { 'content-type': 'application/json' };
    expectError(await request(url, LOGS, { method: 'POST', body, headers }), 'invalid_request');
  }
});
