import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { InputError } from '../../src/errors.ts';
import { openControlStore } from '../../src/keys/control-store.ts';
import { createKeyring } from '../../src/keys/keyring.ts';
import { hashKey } from '../../src/keys/secret.ts';
import { openTestKeyring, refusalOf } from '../support/keys.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);
let made = 0;
const setUp = () => openTestKeyring(join(folder.path, String(++made)));

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
        description: '',
        pins: {},
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

  test('shows a change by one connection to another within a fiftieth of a second', async () => {
    const { dir, tokens, keyring } = setUp();
    const other = openControlStore(dir);
    const { id, key } = keyring.create({ name: 'a', scopes: ['query'] });
    const elsewhere = createKeyring({
      store: other,
      tokens,
      privateKey: '',
      publicKey: '',
      now: () => 1_000_001,
    });
    expect(elsewhere.authenticate(key).keyId).toBe(id);
    elsewhere.revoke(id);
    await wait(25);
    expect(refusalOf(() => keyring.authenticate(key)).message).toBe('the key has been revoked');
    other.close();
  });

  test('writes over nothing that another connection changed a moment ago', () => {
    const { dir, tokens, keyring } = setUp();
    const other = openControlStore(dir);
    const now = () => 1_000_001;
    const elsewhere = createKeyring({ store: other, tokens, privateKey: '', publicKey: '', now });
    const { id, key } = keyring.create({ name: 'a', scopes: ['query'] });
    elsewhere.authenticate(key);
    keyring.update(id, { pins: { project: 'abc' } });
    elsewhere.update(id, { name: 'b' });
    expect(keyring.find(id)).toMatchObject({ name: 'b', pins: { project: 'abc' } });
    keyring.revoke(id);
    expect(() => elsewhere.rotate(id, 0)).toThrow(/has been revoked/);
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
    expect(refusalOf(() => keyring.authenticate(key)).message).toBe('the key has been revoked');
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
      /^the key store is of version 99, newer than this Tailrace \(3\); update Tailrace$/,
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
