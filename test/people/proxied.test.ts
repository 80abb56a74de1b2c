import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as http from '../support/http.ts';
import { ROLES } from '../support/people.ts';
import { ownFolder, ownService, PRIVATE_KEY } from '../support/service.ts';

/** The address of the proxy; others of this machine are those of attackers. */
const PROXY = '127.0.0.9';
const PUBLIC_URL = 'https://logs.example.com';
const folder = await ownFolder();
const rolesFile = join(folder.path, 'roles.yaml');
await writeFile(rolesFile, ROLES);
const service = await ownService({
  env: {
    TAILRACE_CONSOLE_KEYS: '0',
    TAILRACE_PUBLIC_URL: PUBLIC_URL,
    TAILRACE_TRUST_PROXY: PROXY,
    TAILRACE_TRUSTED_USER_HEADER: 'X-Forwarded-Email, X-Forwarded-Groups',
    TAILRACE_ROLES_FILE: rolesFile,
  },
});

const ADA = { 'x-forwarded-email': 'ada@example.com', 'x-forwarded-groups': 'platform' };

const statusFrom = async (localAddress: string, headers: Record<string, string>) =>
  (await http.sendPlain(`${service.url}/api/me`, { localAddress, headers, agent: false })).status;

test('a proxy names a user, and nobody else does; the cookie of a session that has ended keeps no such user out', async () => {
  expect(await statusFrom('127.0.0.1', { ...ADA, 'x-forwarded-for': PROXY })).toBe(401);
  const cookie = `__Host-tailrace=ts_0123456789ab_${'A'.repeat(43)}`;
  expect(await statusFrom(PROXY, { ...ADA, cookie })).toBe(200);
  expect(await statusFrom(PROXY, { cookie })).toBe(401);
  expect(await statusFrom('127.0.0.1', { ...ADA, cookie })).toBe(401);
});

test('if keys may not sign in to the console, none opens a session, and programs go on with theirs', async () => {
  const headers = { 'x-api-key': PRIVATE_KEY, origin: PUBLIC_URL, 'x-tailrace-console': '1' };
  const refused = await http.request(service.url, '/auth/key', { method: 'POST', headers });
  http.expectError(refused, 'forbidden');
  expect(refused.headers.getSetCookie()).toEqual([]);
  expect(JSON.parse((await http.get(service.url, '/auth/options')).text)).toMatchObject({ keys: false });
  expect((await service.call('usage.by-project')).status).toBe(200);
});
