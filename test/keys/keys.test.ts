import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { InputError, TailraceError } from '../../src/errors.ts';
import { openControlStore } from '../../src/keys/control-store.ts';
import { createKeyring, requireScope } from '../../src/keys/keyring.ts';
import { isScope, SCOPES } from '../../src/keys/scope.ts';
import { createSecret, findKeyId, hashKey, sameHash } from '../../src/keys/secret.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);

let made = 0;
function setUp(environment: { privateKey?: string; publicKey?: string } = {}) {
  const dir = join(folder.path, String(++made));
  const store = openControlStore(dir);
  const clock = { now: 1_000_000 };
  const keyring = createKeyring({
    store,
    privateKey: '',
    publicKey: '',
    now: () => clock.now,
    ...environment,
  });
  return { dir, store, clock, keyring };
}

function failureOf(work: () => unknown): TailraceError {
  try {
    work();
  } catch (error) {
    if (error instanceof TailraceError) return error;
    throw error;
  }
  throw new Error('it should have been refused');
}

describe('a secret', () => {
  test('has the prefix tr_, its id, 256 random bits, and is never the same', () => {
    const secrets = Array.from({ length: 100 }, createSecret);
    for (const { key, id, hash } of secrets) {
      expect(key).toMatch(/^tr_[0-9a-f]{12}_[A-Za-z0-9_-]{43}$/);
      expect(findKeyId(key)).toBe(id);
      expect(sameHash(hash, hashKey(key))).toBe(true);
    }
    expect(new Set(secrets.map((secret) => secret.key.slice(16))).size).toBe(100);
  });

  test.each([
    '',
    'tr_',
    'x',
    'tr_0123456789ab_short',
    `tr_0123456789AB_${'a'.repeat(43)}`,
    `tr_0123456789ab_${'a'.repeat(44)}`,
    ` tr_0123456789ab_${'a'.repeat(43)}`,
  ])('%j has not the form of a key', (text) => expect(findKeyId(text)).toBeUndefined());

  test('is another for another hash, also of another length', () => {
    expect(sameHash(hashKey('a'), hashKey('b'))).toBe(false);
    expect(sameHash(hashKey('a'), new Uint8Array())).toBe(false);
  });
});

describe('the keyring', () => {
  const privateKey = 'private-key-of-the-environment';
  const publicKey = 'public-key-of-the-environment';

  test('takes the keys of the environment with their scopes', () => {
    const { keyring } = setUp({ privateKey, publicKey });
    expect(keyring.authenticate(privateKey)).toEqual({ keyId: 'private', scopes: SCOPES });
    expect(keyring.authenticate(publicKey)).toEqual({ keyId: 'public', scopes: ['ingest'] });
    expect(keyring.hasUsableKey()).toBe(true);
  });

  test('takes a key that it made, with its scopes, until it is revoked', () => {
    const { keyring, store, clock } = setUp();
    expect(keyring.hasUsableKey()).toBe(false);
    const { id, key } = keyring.create({ name: 'a', scopes: ['query'] });
    expect(keyring.authenticate(key)).toEqual({ keyId: id, scopes: ['query'] });
    expect(keyring.hasUsableKey()).toBe(true);
    clock.now++;
    expect(keyring.revoke(id)).toBe(true);
    expect(keyring.revoke(id)).toBe(false);
    expect(store.findKey(id)?.revokedMs).toBe(clock.now);
    expect(failureOf(() => keyring.authenticate(key)).message).toBe('the key has been revoked');
    expect(keyring.hasUsableKey()).toBe(false);
  });

  test('takes a key up to the instant that it expires', () => {
    const { keyring, clock } = setUp();
    const { key } = keyring.create({ name: 'a', scopes: ['query'], expiresMs: clock.now + 1000 });
    clock.now += 999;
    keyring.authenticate(key);
    clock.now += 1;
    expect(failureOf(() => keyring.authenticate(key)).message).toBe('the key has expired');
    expect(keyring.hasUsableKey()).toBe(false);
  });

  test.each([
    [undefined, 'a key is required: send it as X-API-KEY or as Authorization: Bearer'],
    ['', 'a key is required: send it as X-API-KEY or as Authorization: Bearer'],
    ['nonsense', 'the key is not known'],
    [createSecret().key, 'the key is not known'],
    [' '.repeat(100_000), 'the key is not known'],
    ['\0\ud800', 'the key is not known'],
  ])('refuses %j', (key, message) => {
    const { keyring } = setUp({ privateKey });
    keyring.create({ name: 'a', scopes: ['query'] });
    expect(failureOf(() => keyring.authenticate(key))).toMatchObject({
      code: 'unauthorized',
      status: 401,
      message,
      headers: { 'www-authenticate': 'Bearer realm="tailrace"' },
    });
  });

  test('refuses a known id with another secret, whatever the state of the key', () => {
    const { keyring } = setUp();
    const { id, key } = keyring.create({ name: 'a', scopes: ['query'] });
    const forged = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
    expect(failureOf(() => keyring.authenticate(forged)).message).toBe('the key is not known');
    keyring.revoke(id);
    expect(failureOf(() => keyring.authenticate(forged)).message).toBe('the key is not known');
  });

  test.each(SCOPES)('of the scopes only %s lets one in where it is asked for', (scope) => {
    const others = SCOPES.filter((one) => one !== scope);
    requireScope({ keyId: 'x', scopes: [scope] }, scope);
    expect(failureOf(() => requireScope({ keyId: 'x', scopes: others }, scope))).toMatchObject({
      code: 'forbidden',
      status: 403,
      message: `the key lacks the scope "${scope}"; it has ${others.join(', ')}`,
    });
    expect(failureOf(() => requireScope({ keyId: 'x', scopes: [] }, scope)).message).toContain('it has none');
    expect([isScope(scope), isScope('other')]).toEqual([true, false]);
  });
});

describe('the control store', () => {
  test('keeps everything but the key itself', () => {
    const { dir, store, keyring } = setUp();
    const { id, key } = keyring.create({
      name: 'né"',
      scopes: ['query', 'manage'],
      expiresMs: 2_000_000_000_000,
    });
    expect(store.listKeys()).toEqual([
      {
        id,
        name: 'né"',
        hash: new Uint8Array(hashKey(key)),
        scopes: ['query', 'manage'],
        createdMs: 1_000_000,
        expiresMs: 2_000_000_000_000,
        revokedMs: undefined,
      },
    ]);
    const secret = key.split('_').slice(2).join('_');
    const bytes = Buffer.concat(readdirSync(dir).map((file) => readFileSync(join(dir, file))));
    expect(bytes.includes(hashKey(key))).toBe(true);
    expect(bytes.includes(secret)).toBe(false);
  });

  test('can be read by its owner alone', () => {
    const { dir, keyring } = setUp();
    keyring.create({ name: 'a', scopes: ['query'] });
    const files = readdirSync(dir);
    expect(files).toContain('control.sqlite');
    for (const file of files) expect(statSync(join(dir, file)).mode & 0o777).toBe(0o600);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  test('lists the newest first', () => {
    const { clock, keyring } = setUp();
    for (const name of ['a', 'b', 'c']) {
      clock.now++;
      keyring.create({ name, scopes: [] });
    }
    expect(keyring.list().map((key) => key.name)).toEqual(['c', 'b', 'a']);
  });

  test('shows a change by one connection to another at once', () => {
    const { dir, keyring } = setUp();
    const other = openControlStore(dir);
    const { id, key } = keyring.create({ name: 'a', scopes: ['query'] });
    const elsewhere = createKeyring({ store: other, privateKey: '', publicKey: '', now: () => 1_000_001 });
    expect(elsewhere.authenticate(key).keyId).toBe(id);
    elsewhere.revoke(id);
    expect(failureOf(() => keyring.authenticate(key)).message).toBe('the key has been revoked');
    other.close();
  });

  test('takes a revocation by another process at once', () => {
    const { dir, keyring } = setUp();
    const { id, key } = keyring.create({ name: 'a', scopes: ['query'] });
    keyring.authenticate(key);
    const script = `const { openControlStore } = await import('./src/keys/control-store.ts');
      const store = openControlStore(process.argv[1]); store.revokeKey(process.argv[2], 5); store.close();`;
    const ended = spawnSync(process.execPath, ['--input-type=module', '-e', script, dir, id], {
      encoding: 'utf8',
    });
    expect([ended.status, ended.stderr]).toEqual([0, '']);
    expect(failureOf(() => keyring.authenticate(key)).message).toBe('the key has been revoked');
  });

  test('has its keys after it was closed and opened again', () => {
    const { dir, store, keyring } = setUp();
    const { id } = keyring.create({ name: 'a', scopes: ['query'] });
    store.close();
    const again = openControlStore(dir);
    expect(again.findKey(id)?.name).toBe('a');
    again.close();
  });

  test.each([
    [
      'of a newer version',
      (dir: string) => {
        const database = new DatabaseSync(join(dir, 'control.sqlite'));
        database.exec('PRAGMA user_version = 99');
        database.close();
      },
      /^the key store is of version 99, newer than this Tailrace \(1\); update Tailrace$/,
    ],
    [
      'that is no database',
      (dir: string) => writeFileSync(join(dir, 'control.sqlite'), 'nonsense '.repeat(1000)),
      /^the key store .*control.sqlite cannot be opened: file is not a database$/,
    ],
  ])('%s is refused in one line', (_, spoil, message) => {
    const { dir, store } = setUp();
    store.close();
    spoil(dir);
    const open = () => openControlStore(dir);
    expect(open).toThrow(InputError);
    expect(open).toThrow(message);
  });

  test('in a folder that cannot be is refused in one line', () => {
    const file = join(folder.path, 'a-file');
    writeFileSync(file, '');
    expect(() => openControlStore(file)).toThrow(/^the key store .* cannot be opened: [^\n]*$/);
  });
});
