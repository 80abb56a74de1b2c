import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { InputError } from '../../src/errors.ts';
import type { ControlStore } from '../../src/keys/control-store.ts';
import { createSecret, hashKey } from '../../src/keys/secret.ts';
import { MIGRATIONS } from '../../src/keys/sqlite-migrations.ts';
import { openSqliteStore } from '../../src/keys/sqlite-store.ts';
import { openTestKeyring, rejectionOf } from '../support/keys.ts';
import { temporaryFolder } from '../support/service.ts';
import { controlStoreContract } from './contract.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);
let made = 0;
const setUp = () => openTestKeyring(join(folder.path, String(++made)));

const opened: ControlStore[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close().catch(() => {}); // the test may have closed it
});

describe('in the data directory', () => {
  controlStoreContract({
    create: async () => join(folder.path, String(++made)),
    async open(dir) {
      const store = openSqliteStore(dir);
      opened.push(store);
      return store;
    },
  });
});

describe('the control store', () => {
  test('keeps everything but the key itself', async () => {
    const { dir, store, keyring } = setUp();
    const { id, key } = await keyring.create({
      name: 'né"',
      scopes: ['query', 'manage'],
      expiresMs: 2_000_000_000_000,
    });
    expect(await store.listKeys()).toEqual([
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

  test('can be read by its owner alone', async () => {
    const { dir, keyring } = setUp();
    await keyring.create({ name: 'a', scopes: ['query'] });
    const files = readdirSync(dir);
    expect(files).toContain('control.sqlite');
    for (const file of files) expect(statSync(join(dir, file)).mode & 0o777).toBe(0o600);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  test('takes a revocation by another process at once', async () => {
    const { dir, keyring } = setUp();
    const { id, key } = await keyring.create({ name: 'a', scopes: ['query'] });
    await keyring.authenticate(key);
    const script = `const { openSqliteStore } = await import('./src/keys/sqlite-store.ts');
      const { createManagement } = await import('./src/keys/management.ts');
      await createManagement(openSqliteStore(process.argv[1]), Date.now).revoke(process.argv[2]);`;
    const ended = spawnSync(process.execPath, ['--input-type=module', '-e', script, dir, id], {
      encoding: 'utf8',
    });
    expect([ended.status, ended.stderr]).toEqual([0, '']);
    expect((await rejectionOf(keyring.authenticate(key))).message).toBe('the key has been revoked');
  });

  test('has the keys of a store of the first version, with no limits', async () => {
    const { dir, store } = setUp();
    await store.close();
    const database = new DatabaseSync(join(dir, 'control.sqlite'));
    const { id, key } = createSecret();
    database.exec(
      `DROP TABLE keys; DROP TABLE audit; DROP TABLE searches; DROP TABLE sessions; DROP TABLE audit_copy; ${['states', 'history', 'silences', 'outbox', 'points', 'lease'].map((name) => `DROP TABLE alert_${name};`).join(' ')} PRAGMA user_version = 1; ${MIGRATIONS[0]}`,
    );
    database
      .prepare(`INSERT INTO keys VALUES (?, 'old', ?, 'query,manage', 5, NULL, NULL)`)
      .run(id, hashKey(key));
    database.close();
    const { keyring } = openTestKeyring(dir);
    expect(await keyring.authenticate(key)).toEqual({ keyId: id, scopes: ['query', 'manage'], pins: {} });
  });

  test.each([
    [
      'of a newer version',
      (dir: string) => {
        const database = new DatabaseSync(join(dir, 'control.sqlite'));
        database.exec('PRAGMA user_version = 99');
        database.close();
      },
      /^the key store is of version 99, newer than this Tailrace \(9\); update Tailrace$/,
    ],
    [
      'that is no database',
      (dir: string) => writeFileSync(join(dir, 'control.sqlite'), 'nonsense '.repeat(1000)),
      /^the key store .*control.sqlite cannot be opened: file is not a database$/,
    ],
  ])('%s is refused in one line', async (_, spoil, message) => {
    const { dir, store } = setUp();
    await store.close();
    spoil(dir);
    const open = () => openSqliteStore(dir);
    expect(open).toThrow(InputError);
    expect(open).toThrow(message);
  });

  test('in a folder that cannot be is refused in one line', () => {
    const file = join(folder.path, 'a-file');
    writeFileSync(file, '');
    expect(() => openSqliteStore(file)).toThrow(/^the key store .* cannot be opened: [^\n]*$/);
  });
});
