import { afterAll, expect, test } from 'vitest';
import { expectError, get, request } from '../support/http.ts';
import { PRIVATE_KEY, startTestService } from '../support/service.ts';

const service = await startTestService({ env: { TAILRACE_CONSOLE_KEYS: '0' } });
afterAll(service.close);
const { url } = service;

test('where keys may not sign in to the console, none opens a session, and programs go on with theirs', async () => {
  const headers = { 'x-api-key': PRIVATE_KEY, origin: url, 'x-tailrace-console': '1' };
  const refused = await request(url, '/auth/key', { method: 'POST', headers });
  expectError(refused, 'forbidden');
  expect(refused.body.error.message).toContain('TAILRACE_CONSOLE_KEYS is 0');
  expect(refused.headers.getSetCookie()).toEqual([]);
  expect(JSON.parse((await get(url, '/auth/options')).text)).toMatchObject({ keys: false });
  expect((await service.call('usage.ingest')).status).toBe(200);
});
