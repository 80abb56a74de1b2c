import { afterAll, describe, expect, test } from 'vitest';
import { expectError, get, QUERY_PATH } from '../support/http.ts';
import { PRIVATE_KEY, PUBLIC_KEY, startTestService } from '../support/service.ts';

const service = await startTestService();
afterAll(service.close);
const { url, clock } = service;
const { keyring } = service.service;
const PATH = `${QUERY_PATH}/logs.all?project=p1`;
const withKey = (key: string) => get(url, PATH, { 'x-api-key': key });

describe('a query', () => {
  test.each([
    ['the private key', { 'x-api-key': PRIVATE_KEY }],
    ['the private key as a bearer token', { 'x-api-key': '', authorization: `Bearer ${PRIVATE_KEY}` }],
    ['a bearer token in another letter case', { 'x-api-key': '', authorization: `bearer  ${PRIVATE_KEY} ` }],
    ['a good X-API-KEY beside a bad bearer token', { authorization: 'Bearer nobody' }],
  ])('is answered for %s', async (_name, headers) => {
    expect((await get(url, PATH, headers)).status).toBe(200);
  });

  test.each([
    ['no key', { 'x-api-key': '' }],
    ['a wrong key', { 'x-api-key': 'wrong' }],
    ['a key of the right form that was never made', { 'x-api-key': `tr_${'a'.repeat(40)}` }],
    ['the private key and a letter more', { 'x-api-key': `${PRIVATE_KEY}x` }],
    ['half the private key', { 'x-api-key': PRIVATE_KEY.slice(0, 10) }],
    [
      'a bad X-API-KEY beside a good bearer token',
      { 'x-api-key': 'wrong', authorization: `Bearer ${PRIVATE_KEY}` },
    ],
    ['a bearer token that is empty', { 'x-api-key': '', authorization: 'Bearer ' }],
    ['the private key as basic credentials', { 'x-api-key': '', authorization: `Basic ${PRIVATE_KEY}` }],
    ['a key of 16 KB', { 'x-api-key': 'k'.repeat(16_384) }],
  ])('is refused for %s', async (_name, headers) => {
    const answer = await get(url, PATH, headers);
    expectError(answer, 'unauthorized');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="tailrace"');
  });

  test('never takes the key from the URL', async () => {
    expectError(await get(url, `${PATH}&api_key=${PRIVATE_KEY}`, { 'x-api-key': '' }), 'unauthorized');
  });

  test('is refused for a key made from another by changing its last letter', async () => {
    const { key } = await keyring.create({ name: 'mine', scopes: ['query'] });
    expect((await withKey(key)).status).toBe(200);
    expectError(await withKey(`${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`), 'unauthorized');
  });

  test('is refused with 403 for a key that lacks the scope, which the message names', async () => {
    const { key } = await keyring.create({ name: 'sender', scopes: ['ingest', 'manage'] });
    for (const other of [PUBLIC_KEY, key]) {
      const answer = await withKey(other);
      expectError(answer, 'forbidden');
      expect(answer.body.error.message).toContain('"query"');
    }
  });

  test('is refused at once after its key was revoked, also where the answer is cached', async () => {
    const { id, key } = await keyring.create({ name: 'leaver', scopes: ['query'] });
    const path = `${QUERY_PATH}/usage.api-counts?project=leaver&interval=daily`;
    for (const outcome of ['fwd=miss; stored', 'hit']) {
      expect((await get(url, path, { 'x-api-key': key })).headers.get('cache-status')).toContain(outcome);
    }
    await keyring.revoke(id);
    const answer = await get(url, path, { 'x-api-key': key });
    expectError(answer, 'unauthorized');
    expect(answer.body.error.message).toContain('revoked');
  });

  test('is refused from the millisecond at which its key expires', async () => {
    const { key } = await keyring.create({ name: 'guest', scopes: ['query'], expiresMs: clock.now + 1000 });
    clock.now += 999;
    expect((await withKey(key)).status).toBe(200);
    clock.now += 1;
    const answer = await withKey(key);
    expectError(answer, 'unauthorized');
    expect(answer.body.error.message).toContain('expired');
  });

  test('tells an unknown endpoint from a known one only to accepted keys', async () => {
    const path = `${QUERY_PATH}/nothing.here?project=p1`;
    expectError(await get(url, path, { 'x-api-key': 'wrong' }), 'unauthorized');
    expectError(await get(url, path, { 'x-api-key': PUBLIC_KEY }), 'forbidden');
    expectError(await get(url, path), 'endpoint_not_found');
  });
});

test('health and readiness are open to all and the metrics are not', async () => {
  expect((await get(url, '/health', { 'x-api-key': '' })).body).toEqual({ status: 'ok' });
  expect((await get(url, '/ready', { 'x-api-key': 'wrong' })).body).toEqual({ status: 'ready' });
  expectError(await get(url, '/metrics', { 'x-api-key': '' }), 'unauthorized');
  const { key } = await keyring.create({ name: 'reader', scopes: ['query', 'ingest'] });
  for (const other of [PUBLIC_KEY, key])
    expectError(await get(url, '/metrics', { 'x-api-key': other }), 'forbidden');
  expect((await get(url, '/metrics')).status).toBe(200);
});
