import { afterAll, expect, test } from 'vitest';
import { get, QUERY_PATH, request, sendRaw } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService();
afterAll(service.close);
const { url } = service;

const HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};

test('every answer has the security headers, whatever it is', async () => {
  const path = `${QUERY_PATH}/usage.api-counts?project=p1&interval=daily`;
  const answers = [
    await get(url, path),
    await get(url, path), // from the cache
    await get(url, path, { 'x-api-key': 'wrong' }),
    await get(url, '/health'),
    await get(url, '/metrics'),
    await get(url, '/nothing'),
    await get(url, `${QUERY_PATH}/%FF`),
    await get(url, `${QUERY_PATH}/logs.all?project=${'x'.repeat(263_000)}`),
    await request(url, path, { method: 'POST' }),
    await request(url, '/api/logs', { method: 'POST', body: '{' }),
  ];
  for (const answer of answers) {
    const given = Object.keys(HEADERS).map((name) => [name, answer.headers.get(name)]);
    expect(Object.fromEntries(given)).toEqual(HEADERS);
    expect(answer.headers.get('server')).toBeNull();
    expect(answer.headers.get('x-powered-by')).toBeNull();
  }
});

test('what never became a request is answered with them, too', async () => {
  const text = (await sendRaw(url, 'nonsense\r\n\r\n')).toLowerCase();
  for (const [name, value] of Object.entries(HEADERS)) expect(text).toContain(`\r\n${name}: ${value}\r\n`);
});

test('without TLS of its own the service promises none', async () => {
  expect((await get(url, '/health')).headers.get('strict-transport-security')).toBeNull();
});

test('no answer for a key is kept by anybody but where its route says so', async () => {
  const paths = ['self', 'endpoints', 'sources', 'projects', 'overview', 'keys', 'keys/log', 'nothing'];
  for (const path of [...paths.map((one) => `/api/${one}`), '/metrics', '/health']) {
    expect([path, (await get(url, path)).headers.get('cache-control')]).toEqual([path, 'no-store']);
  }
  const query = `${QUERY_PATH}/usage.api-counts?project=p1&interval=daily`;
  expect((await get(url, query)).headers.get('cache-control')).toBe('private, max-age=900');
  expect((await get(url, '/openapi.json')).headers.get('cache-control')).toBe('private, no-cache');
});
