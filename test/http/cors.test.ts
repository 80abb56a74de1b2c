import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, get, QUERY_PATH, request } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

const ORIGIN = 'https://app.example.com';
/** A service of its own for the tests around it: a process has one engine at a time. */
function serveWith(origins: string): () => string {
  let service: Awaited<ReturnType<typeof startTestService>> | undefined;
  beforeAll(async () => {
    service = await startTestService({ env: { TAILRACE_CORS_ORIGINS: origins } });
  });
  afterAll(async () => await service?.close());
  return () => service?.url ?? '';
}

const PATH = `${QUERY_PATH}/logs.all?project=p1`;
const CACHED_PATH = `${QUERY_PATH}/usage.api-counts?project=p1&interval=daily`;
/** As a browser asks before it sends a request with a key; without one, since browsers send none then. */
const preflight = (url: string, path: string, origin: string) =>
  request(url, path, {
    method: 'OPTIONS',
    headers: {
      'x-api-key': '',
      origin,
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'x-api-key',
    },
  });
const allowed = (answer: { headers: Headers }) => answer.headers.get('access-control-allow-origin');

describe('without listed origins', () => {
  const url = serveWith('');
  testIngest(url);

  test('no page of another origin may read an answer', async () => {
    for (const path of [PATH, '/metrics', '/health', '/nothing']) {
      expect(allowed(await get(url(), path, { origin: ORIGIN }))).toBeNull();
    }
  });

  test('a preflight is refused like every method that is not allowed', async () => {
    const answer = await preflight(url(), PATH, ORIGIN);
    expectError(answer, 'method_not_allowed');
    expect(allowed(answer)).toBeNull();
  });
});

describe('with listed origins', () => {
  const url = serveWith(`${ORIGIN}, http://localhost:3000`);
  testIngest(url);

  test('their pages may read answers and errors, those of others may not', async () => {
    for (const path of [PATH, CACHED_PATH, '/metrics', '/nothing', `${QUERY_PATH}/nothing`]) {
      for (const [origin, expected] of [
        [ORIGIN, ORIGIN],
        ['http://localhost:3000', 'http://localhost:3000'],
        ['https://evil.example.com', null],
        ['https://app.example.com.evil.com', null],
        ['http://app.example.com', null],
        ['null', null],
      ] as const) {
        const answer = await get(url(), path, { origin });
        expect([origin, allowed(answer)]).toEqual([origin, expected]);
        expect(answer.headers.get('vary')).toMatch(/\bOrigin\b/i); // else a cache would give one's answer to another
        expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
      }
    }
  });

  test('a preflight needs no key and names what may be sent', async () => {
    const answer = await preflight(url(), PATH, ORIGIN);
    expect([answer.status, answer.text, allowed(answer)]).toEqual([204, '', ORIGIN]);
    expect(answer.headers.get('access-control-allow-methods')).toContain('GET');
    expect(answer.headers.get('access-control-allow-headers')).toContain('x-api-key');
    expect(allowed(await preflight(url(), PATH, 'https://evil.example.com'))).toBeNull();
  });

  test('a request still needs its key', async () => {
    const answer = await get(url(), PATH, { origin: ORIGIN, 'x-api-key': '' });
    expectError(answer, 'unauthorized');
    expect(allowed(answer)).toBe(ORIGIN); // so that the page can read why
  });
});

describe('with *', () => {
  const url = serveWith('*');
  testIngest(url);

  test('every page may', async () => {
    expect(allowed(await get(url(), PATH, { origin: ORIGIN }))).toBe('*');
    expect(allowed(await preflight(url(), PATH, ORIGIN))).toBe('*');
  });
});

function testIngest(url: () => string): void {
  test('the paths that take events are open to all pages', async () => {
    const answer = await preflight(url(), '/api/logs', 'https://any.example.org');
    expect([answer.status, allowed(answer)]).toEqual([204, '*']);
    expect(answer.headers.get('access-control-allow-methods')).toBe('POST');
  });
}
