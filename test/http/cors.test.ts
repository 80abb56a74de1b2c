import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROUTES } from '../../src/http/routes/index.ts';
import { createBrowserClient } from '../support/browser-client.ts';
import { expectError, get, post, QUERY_PATH, request, TO_EDGE } from '../support/http.ts';
import { PRIVATE_KEY, PUBLIC_KEY, startTestService } from '../support/service.ts';

const LISTED = 'https://app.example.com';
const EVIL = 'https://evil.example.com';
const PATH = `${QUERY_PATH}/logs.all?project=p1`;
const CACHED = `${QUERY_PATH}/usage.api-counts?project=p1&interval=daily`;
const OPERATIONS: readonly (readonly [method: string, path: string])[] = [
  ...ROUTES.flatMap((route) => route.paths.map((path) => [route.method, path] as const)),
  ...['/nothing', '/*', CACHED].map((path) => ['GET', path] as const),
];

/** As a browser asks before it sends a request with a key; without one, since browsers send none then. */
const preflight = (url: string, path: string, origin: string) =>
  request(url, path, {
    method: 'OPTIONS',
    headers: {
      ...{ 'x-api-key': '', origin },
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'x-api-key',
    },
  });
const allowed = (answer: { headers: Headers }) => answer.headers.get('access-control-allow-origin');

describe.each([
  ['without listed origins', '', [EVIL]],
  ['with listed origins', `${LISTED}, http://localhost:3000`, [EVIL, LISTED]],
  ['with *', '*', [EVIL]],
])('%s', (_, listed, origins) => {
  let service: Awaited<ReturnType<typeof startTestService>>;
  let url = '';
  const browser = createBrowserClient();
  beforeAll(async () => {
    service = await startTestService({ env: { TAILRACE_CORS_ORIGINS: listed } });
    url = service.url;
    const headers = { origin: url, 'x-tailrace-console': '1', 'x-api-key': PRIVATE_KEY };
    expect((await browser.send(`${url}/auth/key`, { method: 'POST', headers })).status).toBe(200);
  });
  afterAll(async () => await service?.close());

  test('pages of listed origins may read answers and errors; those of others may not', async () => {
    const other = listed === '*' ? '*' : null;
    const isListed = listed.startsWith(LISTED);
    for (const path of [PATH, CACHED, '/metrics', '/nothing', `${QUERY_PATH}/nothing`])
      for (const [origin, expected] of [
        [LISTED, isListed ? LISTED : other],
        ['http://localhost:3000', isListed ? 'http://localhost:3000' : other],
        [EVIL, other],
        [`${LISTED}.evil.com`, other],
        ['http://app.example.com', other],
        ['null', other],
      ]) {
        const answer = await get(url, path, { origin: String(origin) });
        expect([path, origin, allowed(answer)]).toEqual([path, origin, expected]);
        if (isListed) expect(answer.headers.get('vary')).toMatch(/\bOrigin\b/i); // else a cache would give one's answer to another
      }
  });

  test('a preflight needs no key, and the request after it does', async () => {
    const answer = await preflight(url, PATH, LISTED);
    if (listed === '') expectError(answer, 'method_not_allowed');
    else expect([answer.status, answer.text]).toEqual([204, '']);
    expect(allowed(await preflight(url, PATH, EVIL))).toBe(listed === '*' ? '*' : null);
    expectError(await get(url, PATH, { origin: LISTED, 'x-api-key': '' }), 'unauthorized');
  });

  test('the paths that take events are open to all pages, which may read the answer', async () => {
    for (const path of ['/api/logs', '/logs/json', '/api/events/vector']) {
      const answer = await preflight(url, path, 'https://any.example.org');
      expect([answer.status, allowed(answer)]).toEqual([204, '*']);
      expect(answer.headers.get('access-control-allow-methods')).toBe('POST');
    }
    for (const [key, status] of [
      [PUBLIC_KEY, 200],
      ['nobody', 401],
    ] as const) {
      const answer = await post(url, TO_EDGE, [], { origin: EVIL, 'x-api-key': key });
      expect([answer.status, allowed(answer)]).toEqual([status, '*']);
    }
  });

  /** What a page of this origin sends with the cookie of the browser. */
  async function send(method: string, path: string, origin: string) {
    const asked = {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-tailrace-console, cookie',
    };
    const headers = { origin, 'x-tailrace-console': '1', ...(method === 'OPTIONS' && asked) };
    const response = await browser.send(`${url}${path.replaceAll(/:\w+|\*/g, 'x')}`, { method, headers });
    await response.body?.cancel();
    return response;
  }

  // A page that may read answers to requests with the cookie of a person could do whatever the person may.
  test('no route allows credentials, and none that changes anything accepts the cookie', async () => {
    const sent = OPERATIONS.flatMap(([method, path]) => [
      [method, path] as const,
      ['OPTIONS', path] as const,
    ]);
    for (const origin of origins)
      for (const [method, path] of sent) {
        const { headers, status } = await send(method, path, origin);
        const names = String(headers.get('access-control-allow-headers'));
        expect([
          ...[method, path, origin, headers.get('access-control-allow-credentials')],
          ...[headers.getSetCookie(), names.includes('x-tailrace-console')],
          ['GET', 'OPTIONS'].includes(method) || status === 403,
        ]).toEqual([method, path, origin, null, [], false, true]);
      }
    expect((await browser.send(`${url}/api/me`)).status).toBe(200); // the cookie was a right one
    expect((await send('GET', CACHED, EVIL)).headers.get('cache-status')).toMatch(/^Tailrace; hit/);
  });
});
