import { expect, test } from 'vitest';
import { expectError, get, QUERY_PATH, request, sendRaw } from '../support/http.ts';
import { ownService, PUBLIC_KEY } from '../support/service.ts';

const service = await ownService();
const { url } = service;

/**
 * The contract of every failure:
 *
 *     {"error":{"code":"invalid_parameter","message":"…","status":400,"request_id":"…","errors":[{"parameter":"…","message":"…"}]}}
 *
 * - The body has one member, `error`, and that has exactly these five, in this order.
 * - `code` stands in the table of src/errors.ts, `status` is its status there, and the HTTP status is the same.
 * - `message` is a sentence for people; programs read `code`.
 * - `request_id` equals the header `X-Request-Id`, and stands in the service's log.
 * - `errors` is always an array; for `invalid_parameter` it names every wrong parameter, for the others it is empty.
 * - 401 carries `WWW-Authenticate`, 405 `Allow`, 429 and 503 `Retry-After` in whole seconds.
 * - Nothing that came with the request but its path is repeated, and nothing of the service's inside is told.
 */
test('every failure has one shape, and its code and status are those of the table', async () => {
  const secret = 's3cret-value';
  const failures = {
    invalid_parameter: await get(url, `${QUERY_PATH}/usage.api-counts?project=(${secret}&interval=daily`),
    invalid_request: await get(url, `${QUERY_PATH}/%FF?project=${secret}`),
    unauthorized: await get(url, `${QUERY_PATH}/logs.all?project=${secret}`, { 'x-api-key': secret }),
    forbidden: await get(url, `${QUERY_PATH}/logs.all?project=${secret}`, { 'x-api-key': PUBLIC_KEY }),
    endpoint_not_found: await get(url, `${QUERY_PATH}/nothing?project=${secret}`),
    not_found: await get(url, `/nothing?project=${secret}`),
    method_not_allowed: await request(url, `${QUERY_PATH}/logs.all?project=${secret}`, { method: 'PUT' }),
    not_acceptable: await get(url, `${QUERY_PATH}/logs.all?project=${secret}`, { accept: 'text/html' }),
    uri_too_long: await get(url, `${QUERY_PATH}/logs.all?project=${secret.repeat(22_000)}`),
  } as const;
  for (const [code, answer] of Object.entries(failures)) {
    expectError(answer, code as keyof typeof failures); // the keys of the object above
    expect(Object.keys(answer.body)).toEqual(['error']);
    expect(Object.keys(answer.body.error)).toEqual(['code', 'message', 'status', 'request_id', 'errors']);
    expect(answer.text).not.toContain(secret);
    expect(answer.text).not.toMatch(/\bat .*:\d+:\d+|node_modules|DB::Exception/);
    if (code !== 'invalid_parameter') expect(answer.body.error.errors).toEqual([]);
  }
  expect(failures.invalid_parameter.body.error.errors).toEqual([
    { parameter: 'project', message: expect.any(String) },
  ]);
});

const HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};

test('every response has the security headers, also what never became a request', async () => {
  const path = `${QUERY_PATH}/usage.api-counts?project=p1&interval=daily`;
  const answers = [
    await get(url, path),
    await get(url, path), // from the cache
    await get(url, path, { 'x-api-key': 'wrong' }),
    await get(url, '/metrics'),
    await get(url, '/nothing'),
    await get(url, `${QUERY_PATH}/%FF`),
    await get(url, `${QUERY_PATH}/logs.all?project=${'x'.repeat(263_000)}`),
    await request(url, '/api/logs', { method: 'POST', body: '{' }),
  ];
  for (const { headers } of answers) {
    expect(Object.fromEntries(headers)).toMatchObject(HEADERS);
    for (const name of ['server', 'x-powered-by', 'strict-transport-security'])
      expect(headers.get(name)).toBeNull();
  }
  const text = (await sendRaw(url, 'nonsense\r\n\r\n')).toLowerCase();
  for (const [name, value] of Object.entries(HEADERS)) expect(text).toContain(`\r\n${name}: ${value}\r\n`);
});

test('caches keep nothing for a key, except if its route says so', async () => {
  const paths = ['/api/me', '/api/overview', '/api/keys', '/api/keys/log', '/nothing', '/metrics', '/health'];
  for (const path of paths)
    expect([path, (await get(url, path)).headers.get('cache-control')]).toEqual([path, 'no-store']);
  const controlOf = async (path: string) => (await get(url, path)).headers.get('cache-control');
  const query = 'project=p1&interval=daily';
  expect(await controlOf(`${QUERY_PATH}/usage.api-counts?${query}`)).toBe('private, max-age=900');
  expect(await controlOf(`${QUERY_PATH}/logs.all?${query}`)).toBe('private, no-store');
  expect(await controlOf('/openapi.json')).toBe('private, no-cache');
});

test('stored SQL that fails is told in the engine’s words, without the inside of the service', async () => {
  await service.core.engine.command('DROP TABLE edge_logs');
  const answer = await get(url, `${QUERY_PATH}/logs.all?project=s3cret-value`);
  expectError(answer, 'query_failed', /^Unknown table/);
  expect(answer.text).not.toMatch(/s3cret-value|DB::Exception|tailrace-test-|SELECT/);
});
