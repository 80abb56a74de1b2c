import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathsOf } from '../../src/http/route.ts';
import { ROUTES } from '../../src/http/routes/index.ts';
import { createBrowserClient } from '../support/browser-client.ts';
import { get, QUERY_PATH } from '../support/http.ts';
import { PRIVATE_KEY, startTestService } from '../support/service.ts';

// A page that may read answers to requests with the cookie of a person could do whatever the person may.

const LISTED = 'https://app.example.com';
const EVIL = 'https://evil.example.com';
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const PATHS = [...new Set(ROUTES.flatMap(pathsOf)), '/nothing', '/*'];
const CACHED = `${QUERY_PATH}/usage.api-counts?project=p1&interval=daily`;

describe.each([
  ['without listed origins', '', [EVIL]],
  ['with listed origins', LISTED, [EVIL, LISTED]],
  ['with *', '*', [EVIL]],
])('%s', (_, listed, origins) => {
  let service: Awaited<ReturnType<typeof startTestService>>;
  const browser = createBrowserClient();
  beforeAll(async () => {
    service = await startTestService({ env: { TAILRACE_CORS_ORIGINS: listed } });
    const headers = { origin: service.url, 'x-tailrace-console': '1', 'x-api-key': PRIVATE_KEY };
    expect((await browser.send(`${service.url}/auth/key`, { method: 'POST', headers })).status).toBe(200);
  });
  afterAll(async () => await service?.close());

  /** What a page of this origin sends with the cookie of the browser. */
  async function send(method: string, path: string, origin: string) {
    const preflight = {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-tailrace-console, cookie',
    };
    const headers = { origin, 'x-tailrace-console': '1', ...(method === 'OPTIONS' && preflight) };
    const url = `${service.url}${path.replaceAll(/:\w+|\*/g, 'x')}`;
    const response = await browser.send(url, { method, headers });
    await response.body?.cancel();
    return response;
  }

  /** All that a caller could have changed. */
  async function readState() {
    const paths = ['/api/keys', '/api/sessions?of=all', '/api/searches', '/api/alerts', '/api/endpoints'];
    const states = await Promise.all(paths.map((path) => get(service.url, path)));
    const entries = await service.service.keyring.log({ limit: 100 });
    const changes = entries.filter(({ action }) => action !== 'refused');
    return [...states.map(({ status, text }) => [status, text]), changes];
  }

  test('no route allows credentials by any method, and none changes anything with the cookie', async () => {
    const before = await readState();
    for (const origin of origins)
      for (const path of PATHS)
        for (const method of METHODS) {
          const { headers, status } = await send(method, path, origin);
          const sent = [method, path, origin];
          expect([...sent, headers.get('access-control-allow-credentials')]).toEqual([...sent, null]);
          expect([...sent, headers.getSetCookie()]).toEqual([...sent, []]);
          const allowed = String(headers.get('access-control-allow-headers'));
          expect([...sent, allowed.includes('x-tailrace-console')]).toEqual([...sent, false]);
          const mayChange = !['GET', 'HEAD', 'OPTIONS'].includes(method);
          if (mayChange) expect([...sent, status]).toEqual([...sent, expect.toSatisfy((one) => one >= 400)]);
        }
    expect(await readState()).toEqual(before);
    expect((await browser.send(`${service.url}/api/me`)).status).toBe(200); // the cookie was a right one
  });

  test('an answer from the cache allows none either', async () => {
    for (const origin of [...origins, ...origins]) {
      const { headers, status } = await send('GET', CACHED, origin);
      expect([status, headers.get('access-control-allow-credentials')]).toEqual([200, null]);
    }
    expect((await send('GET', CACHED, EVIL)).headers.get('cache-status')).toMatch(/^Tailrace; hit/);
  });
});
