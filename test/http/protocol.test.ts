import { afterAll, describe, expect, test } from 'vitest';
import { expectError, get, QUERY_PATH, request, sendRaw } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService();
afterAll(service.close);
const { url } = service;
const PATH = `${QUERY_PATH}/logs.all?project=p1`;

describe('methods', () => {
  const ENDPOINTS = [PATH, `${QUERY_PATH}/no.such.name`];
  const OTHERS = ['/health', '/ready', '/metrics'];

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY', 'PURGE'])(
    '%s is refused with those that are allowed',
    async (method) => {
      // Endpoints take POST too: test/http/sandbox.test.ts.
      for (const path of method === 'POST' ? OTHERS : [...OTHERS, ...ENDPOINTS]) {
        const answer = await request(url, path, { method });
        expectError(answer, 'method_not_allowed');
        expect(answer.headers.get('allow')).toBe(ENDPOINTS.includes(path) ? 'GET, HEAD, POST' : 'GET, HEAD');
      }
    },
  );

  test.each(['PUT', 'PATCH', 'DELETE'])(
    '%s is refused the same whatever its body and key are',
    async (method) => {
      for (const body of ['{"project":"p1"}', '{not json', 'x'.repeat(1_000_000)]) {
        for (const type of ['application/json', 'text/plain', 'application/octet-stream']) {
          const headers = { 'content-type': type, 'x-api-key': '' };
          expectError(await request(url, PATH, { method, body, headers }), 'method_not_allowed');
        }
      }
    },
  );

  test('HEAD gives the headers of GET and no body', async () => {
    const answer = await request(url, PATH, { method: 'HEAD' });
    const same = await get(url, PATH);
    expect([answer.status, answer.text]).toEqual([200, '']);
    for (const name of ['content-type', 'content-length', 'cache-status', 'age', 'cache-control'])
      expect(answer.headers.get(name)).toBe(same.headers.get(name));
    expect((await request(url, `${QUERY_PATH}/logs.all`, { method: 'HEAD' })).status).toBe(400);
  });
});

test('an expectation that nobody knows is passed over, not answered in words of its own', async () => {
  const { host } = new URL(url);
  const text = await sendRaw(
    url,
    `GET /health HTTP/1.1\r\nhost: ${host}\r\nexpect: more\r\nconnection: close\r\n\r\n`,
  );
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(text).toMatch(/\{"status":"ok"\}$/);
});

test('a request without Host is refused in the shape of errors, under HTTP/1.1 alone', async () => {
  const ask = (version: string) => sendRaw(url, `GET /health HTTP/${version}\r\nconnection: close\r\n\r\n`);
  expect(await ask('1.1')).toMatch(
    /^HTTP\/1\.1 400 [\s\S]*\{"error":\{"code":"invalid_request","message":"the Host/,
  );
  expect(await ask('1.0')).toMatch(/^HTTP\/1\.1 200 /);
});

describe('the answer', () => {
  test.each([
    '*/*',
    'application/*',
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8;q=0.5, text/html',
    'text/html, application/json;q=0.1',
    'text/html,application/xhtml+xml,*/*;q=0.8',
    '',
  ])('is JSON for Accept: %s', async (accept) => {
    const answer = await get(url, PATH, { accept });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'application/json; charset=utf-8',
    ]);
  });

  test.each([
    'text/html',
    'image/*',
    'application/xml',
    'application/json;q=0',
    'application/json;q=0, text/html',
  ])('is refused for Accept: %s', async (accept) => {
    expectError(await get(url, PATH, { accept }), 'not_acceptable');
  });

  test('comes the same with the Content-Type that every call carries, though there is no body', async () => {
    for (const type of ['application/json; charset=utf-8', 'application/json', 'text/plain']) {
      const answer = await get(url, PATH, { 'content-type': type });
      expect([answer.status, answer.text]).toEqual([200, '{"result":[]}']);
    }
  });

  test('tells the time that the engine took, and none where the engine was not asked', async () => {
    const path = `${QUERY_PATH}/usage.api-counts?project=timing&interval=daily`;
    expect((await get(url, path)).headers.get('server-timing')).toMatch(/^engine;dur=\d+\.\d$/);
    expect((await get(url, path)).headers.get('server-timing')).toBe('engine;dur=0.0');
    expect((await get(url, PATH)).headers.get('server-timing')).toMatch(/^engine;dur=\d+\.\d$/);
  });

  test('may not be kept by caches between the service and the caller', async () => {
    expect((await get(url, PATH)).headers.get('cache-control')).toBe('private, no-store');
  });
});

describe('the request id', () => {
  const id = async (given?: string) =>
    (await get(url, PATH, given === undefined ? {} : { 'x-request-id': given })).headers.get('x-request-id');

  test('is the one that was sent', async () => {
    for (const given of ['abc', 'A-b_c.1', 'x'.repeat(100)]) expect(await id(given)).toBe(given);
  });

  test.each([undefined, '', 'x'.repeat(101), 'two words', '<script>', 'a"b', '{"a":1}'])(
    'is made where none is sent, or one that is not safe to repeat: %s',
    async (given) => {
      expect(await id(given)).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/);
    },
  );

  test('differs from request to request', async () => {
    expect(await id()).not.toBe(await id());
  });

  test('stands in the error, also where the path cannot be read', async () => {
    for (const path of [`${QUERY_PATH}/none`, '/nowhere', `${QUERY_PATH}/%FF`, `${QUERY_PATH}/logs.all`]) {
      const answer = await get(url, path, { 'x-request-id': 'trace-1' });
      expect([answer.headers.get('x-request-id'), answer.body.error.request_id]).toEqual([
        'trace-1',
        'trace-1',
      ]);
    }
  });
});
