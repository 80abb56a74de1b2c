import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createSecret, isScope, SCOPES } from '../../src/keys/grant.ts';
import { requireScope } from '../../src/keys/keyring.ts';
import { createTestKeyring, errorOf, openTestKeyring, rejectionOf } from '../support/keys.ts';
import { ownFolder } from '../support/service.ts';

const folder = await ownFolder();
let made = 0;
const setUp = (environment?: Parameters<typeof openTestKeyring>[1]) =>
  openTestKeyring(join(folder.path, String(++made)), environment);

describe('the keyring', () => {
  const privateKey = 'private-key-of-the-environment';
  const publicKey = 'public-key-of-the-environment';

  test('takes the keys of the environment with their scopes', async () => {
    const { keyring } = setUp({ privateKey, publicKey });
    expect(await keyring.authenticate(privateKey)).toEqual({ keyId: 'private', scopes: SCOPES, pins: {} });
    expect(await keyring.authenticate(publicKey)).toEqual({ keyId: 'public', scopes: ['ingest'], pins: {} });
    expect(await keyring.hasUsableKey()).toBe(true);
  });

  test('has a usable key until the only one that can query is revoked', async () => {
    const { keyring } = setUp();
    await keyring.create({ name: 'a', scopes: ['ingest'] });
    expect(await keyring.hasUsableKey()).toBe(false);
    const { id } = await keyring.create({ name: 'b', scopes: ['query'] });
    expect(await keyring.hasUsableKey()).toBe(true);
    expect([await keyring.revoke(id), await keyring.revoke(id)]).toEqual([true, false]);
    expect(await keyring.hasUsableKey()).toBe(false);
  });

  test('takes a key until it is revoked or expires, and never its id with another secret', async () => {
    const { keyring, store, clock } = setUp();
    const reasonOf = async (text: string) => (await rejectionOf(keyring.authenticate(text))).message;
    const { id, key } = await keyring.create({ name: 'a', scopes: ['query'] });
    const forged = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
    expect(await keyring.authenticate(key)).toEqual({ keyId: id, scopes: ['query'], pins: {} });
    expect(await reasonOf(forged)).toBe('the key is not known');
    clock.now++;
    await keyring.revoke(id);
    expect((await store.findKey(id))?.revokedMs).toBe(clock.now);
    expect(await reasonOf(key)).toBe('the key has been revoked');
    expect(await reasonOf(forged)).toBe('the key is not known');
    const timed = await keyring.create({ name: 'b', scopes: ['query'], expiresMs: clock.now + 1_000 });
    clock.now += 999;
    expect(await keyring.authenticate(timed.key)).toMatchObject({ scopes: ['query'] });
    clock.now += 1;
    expect(await reasonOf(timed.key)).toBe('the key has expired');
  });

  test.each([undefined, '', 'nonsense', createSecret().key, ' '.repeat(100_000), '\0\ud800'])(
    'rejects %j',
    async (key) => {
      const { keyring } = setUp({ privateKey });
      await keyring.create({ name: 'a', scopes: ['query'] });
      expect(await rejectionOf(keyring.authenticate(key))).toMatchObject({
        ...{ code: 'unauthorized', status: 401, headers: { 'www-authenticate': 'Bearer realm="tailrace"' } },
        message: key ? 'the key is not known' : expect.stringContaining('a key is required'),
      });
    },
  );

  test('takes no token and no session of a key of the environment that was replaced', async () => {
    const { keyring, store, clock } = setUp({ privateKey });
    const caller = await keyring.authenticate(privateKey);
    const grant = { scopes: ['query'], pins: {}, expiresMs: clock.now + 60_000 } as const;
    const { token } = await keyring.mint(caller, grant);
    const held = await keyring.hold(caller);
    expect(await keyring.authenticate(token)).toMatchObject({ keyId: 'private', scopes: ['query'] });
    expect(await keyring.resume(held)).toEqual(caller);
    const replaced = createTestKeyring(store, { privateKey: 'another' }).keyring;
    const unknown = 'is not known; request a new token';
    expect((await rejectionOf(replaced.authenticate(token))).message).toBe(`the token ${unknown}`);
    expect((await rejectionOf(replaced.resume(held))).message).toBe('the key of the session is not known');
  });

  test('says whether a token has ended or its key, and how a session has', async () => {
    const { keyring, clock } = setUp();
    const { id, key } = await keyring.create({ name: 'a', scopes: ['query'], expiresMs: clock.now + 9_000 });
    const caller = await keyring.authenticate(key);
    const held = await keyring.hold(caller);
    const mint = async (ms: number) =>
      (await keyring.mint(caller, { scopes: ['query'], pins: {}, expiresMs: clock.now + ms })).token;
    const [short, long] = [await mint(5_000), await mint(60_000)];
    const reasons = async () => {
      const all = [keyring.authenticate(short), keyring.authenticate(long), keyring.resume(held)];
      return (await Promise.all(all.map(rejectionOf))).map(({ message }) => message);
    };
    const expected = (what: string) => [
      'the token has expired; request a new token',
      ...['token', 'session'].map((of) => `the key of the ${of} has ${what}`),
    ];
    clock.now += 9_000;
    expect(await reasons()).toEqual(expected('expired'));
    await keyring.revoke(id);
    expect(await reasons()).toEqual(expected('been revoked'));
  });

  test.each(SCOPES)('of the scopes only %s lets one in where it is asked for', async (scope) => {
    const others = SCOPES.filter((one) => one !== scope);
    requireScope({ keyId: 'x', scopes: [scope], pins: {} }, scope);
    expect(errorOf(() => requireScope({ keyId: 'x', scopes: others, pins: {} }, scope))).toMatchObject({
      ...{ code: 'forbidden', status: 403 },
      message: `the key lacks the scope "${scope}"; it has ${others.join(', ')}`,
    });
    const token = { id: 'x', rate: undefined };
    expect(() => requireScope({ keyId: 'x', scopes: [], pins: {}, token }, scope)).toThrow(
      /^the token lacks/,
    );
    const person = { name: 'x', role: 'reader', choices: {}, denied: undefined };
    expect(() => requireScope({ keyId: 'x', scopes: [], pins: {}, person }, scope)).toThrow(
      /^your role lacks/,
    );
    expect([isScope(scope), isScope('other')]).toEqual([true, false]);
  });
});
