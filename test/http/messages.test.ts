import { afterAll, describe, expect, test } from 'vitest';
import { expectError, get, request } from '../support/http.ts';
import { PUBLIC_KEY, startTestService } from '../support/service.ts';

const service = await startTestService();
afterAll(service.close);
const { url } = service;

const post = (
  path: string,
  body: string,
  headers: Record<string, string> = { 'content-type': 'application/json' },
) => request(url, path, { method: 'POST', headers, body });

describe('a body of another type', () => {
  test.each([
    [
      '/api/keys',
      'text/plain',
      'the header Content-Type is "text/plain", which this path does not read; send application/json',
    ],
    ['/api/logs?source_name=postgres.logs', 'text/csv', 'send application/json or application/x-ndjson'],
    [
      '/v1/logs',
      'text/plain;charset=x',
      '"text/plain;charset=x", which this path does not read; send application/json or application/x-protobuf',
    ],
    ['/api/endpoints/query/logs.all', 'a/b', 'send application/json'],
    ['/mcp', 'text/plain', 'send application/json'],
  ])('is refused at %s, which names %s and what is read', async (path, type, message) => {
    const answer = await post(path, '{}', { 'content-type': type });
    expectError(answer, 'unsupported_media_type');
    expect(answer.body.error.message).toContain(message);
  });

  test('or of none is refused', async () => {
    const response = await fetch(`${url}/api/keys`, {
      method: 'POST',
      headers: { 'x-api-key': service.config.privateKey, 'content-type': '' },
      body: new Uint8Array([123, 125]),
    });
    expect(response.status).toBe(415);
    expect(await response.text()).toContain('the header Content-Type is missing; send application/json');
  });
});

describe('a body that is not JSON is refused with its place', () => {
  test.each([
    '/api/keys',
    '/api/logs?source_name=postgres.logs',
    '/v1/logs',
    '/api/endpoints/query/logs.all',
    '/mcp',
    '/api/workbench/check',
  ])('at %s', async (path) => {
    const answer = await post(path, '{"a": 1,\n "é": query}');
    expectError(answer, 'invalid_request');
    expect(answer.body.error.message).toBe('the body is not valid JSON from line 2, column 7 on');
    expect(answer.body.error.errors).toEqual([
      {
        parameter: 'body',
        message: 'is not valid JSON from line 2, column 7 on',
        position: 15,
        line: 2,
        column: 7,
      },
    ]);
  });

  test('also if it is decoded on a thread', async () => {
    const body = `[${'{"id":"x","event_message":"y"},\n'.repeat(3_000)}{"id":]`;
    expect(body.length).toBeGreaterThan(64 * 1024);
    const { body: sent } = await post('/api/logs?source_name=postgres.logs', body);
    expect(sent.error.errors).toMatchObject([{ parameter: 'body', line: 3_001, column: 7 }]);
  });

  test('or is empty, or has a member of every object', async () => {
    expectError(await post('/api/keys', ''), 'invalid_request');
    const answer = await post('/api/keys', '{"__proto__": {"scopes": []}}');
    expectError(answer, 'invalid_request');
    expect(answer.body.error.errors).toEqual([]);
  });
});

test.each(['/v1/traces', '/v1/metrics'])('%s says what is accepted', async (path) => {
  for (const method of ['POST', 'GET']) {
    const answer = await request(url, path, { method });
    expectError(answer, 'not_found');
    expect(answer.body.error.message).toContain("OpenTelemetry's logs are accepted at /v1/logs");
    expect(answer.body.error.message).toContain(`OTEL_${path.slice(4).toUpperCase()}_EXPORTER=none`);
  }
});

test('/openapi.json says that it lists no endpoint for want of a key', async () => {
  const read = async (key: string) => (await get(url, '/openapi.json', { 'x-api-key': key })).text;
  expect(await read('')).toContain('because it was requested without a key');
  for (const key of [service.config.privateKey, PUBLIC_KEY])
    expect(await read(key)).not.toContain('without a key:**');
});
