import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { InputError } from '../../src/errors.ts';
import type { ControlStore } from '../../src/keys/control-store.ts';
import { copyControlStore } from '../../src/keys/copy-store.ts';
import { hashKey } from '../../src/keys/grant.ts';
import { openSqliteStore } from '../../src/keys/sqlite-store.ts';
import { createReserve, RESERVE_BYTES, SHARE_BYTES } from '../../src/lib/reserve.ts';
import { openTestKeyring } from '../support/keys.ts';
import { ownFolder } from '../support/service.ts';
import { controlStoreContract } from './contract.ts';

const folder = await ownFolder();
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
    const { id, key } = await keyring.create({ name: 'né"', scopes: ['query', 'manage'], expiresMs: 2e12 });
    expect(await store.listKeys()).toEqual([
      {
        ...{ id, name: 'né"', description: '', pins: {}, scopes: ['query', 'manage'] },
        ...{ createdMs: 1_000_000, expiresMs: 2e12, revokedMs: undefined },
        hash: new Uint8Array(hashKey(key)),
      },
    ]);
    const secret = key.split('_').slice(2).join('_');
    const bytes = Buffer.concat(readdirSync(dir).map((file) => readFileSync(join(dir, file))));
    expect(bytes.includes(hashKey(key))).toBe(true);
    expect(bytes.includes(secret)).toBe(false);
  });

  test('a change of one key, or an entry of the audit trail, leaves the others known', async () => {
    const { store, keyring } = setUp();
    const one = await keyring.create({ name: 'a', scopes: ['query'] });
    const other = await keyring.create({ name: 'b', scopes: ['query'] });
    const known = await store.findKey(other.id);
    await keyring.update(one.id, { description: 'x' });
    const entry = { atMs: 1, action: 'deleted', keyId: '', actor: 'cli', detail: '', count: 1 } as const;
    await store.record([entry]);
    const nowMs = performance.now();
    vi.spyOn(performance, 'now').mockReturnValue(nowMs + 1_000); // the changes of other processes are looked for
    onTestFinished(() => void vi.restoreAllMocks());
    expect(store.findKey(other.id)).toBe(known);
    expect(await store.findKey(one.id)).toMatchObject({ description: 'x' });
  });

  test('is copied into another once, with its trail; a key that has another secret there is named', async () => {
    const [from, to] = [setUp(), setUp()];
    const limited = { name: 'a', scopes: ['query'], pins: { project: 'x' } } as const;
    const { id, record } = await from.keyring.create(limited);
    const other = await from.keyring.create({ name: 'b', scopes: ['ingest'] });
    await to.store.change([], () => ({ add: [{ ...other.record, hash: record.hash }], result: 0 }));
    const copied = { keysAdded: 1, keysDiffering: [other.id], entriesAdded: 2, alertRowsAdded: 0 };
    expect(await copyControlStore(from.store, to.store)).toEqual(copied);
    expect(await to.store.readKey(id)).toEqual(await from.store.readKey(id));
    const nothing = { ...copied, keysAdded: 0, entriesAdded: 0 };
    expect(await copyControlStore(from.store, to.store)).toEqual(nothing);
    expect((await to.store.listEntries({ limit: 9 })).map(({ keyId }) => keyId)).toEqual([other.id, id]);
  });

  test('can be read by its owner alone', async () => {
    const { dir, keyring } = setUp();
    await keyring.create({ name: 'a', scopes: ['query'] });
    const files = readdirSync(dir);
    expect(files).toContain('control.sqlite');
    for (const file of files) expect(statSync(join(dir, file)).mode & 0o777).toBe(0o600);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  test('on a full disk keys can be revoked and deletions noted, on the reserve; uses are not', async () => {
    const { dir, store, keyring } = setUp();
    const { id } = await keyring.create({ name: 'leaked', scopes: ['query'] });
    await createReserve(dir).keep();
    const fill = (begins: number) => {
      const full = Object.assign(new Error('full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
      const exec = vi.spyOn(DatabaseSync.prototype, 'exec');
      onTestFinished(() => exec.mockRestore());
      for (let i = 0; i < begins; i++)
        exec.mockImplementationOnce(() => {
          throw full;
        });
    };
    const entry = { atMs: 1, action: 'deleted', keyId: '', actor: 'cli', detail: '', count: 1 } as const;
    fill(1);
    await expect(store.noteUses([[id, 1]])).rejects.toMatchObject({ code: 'overloaded' });
    fill(1);
    await store.record([entry]);
    fill(1);
    expect(await keyring.revoke(id)).toBe(true);
    expect((await keyring.log({ limit: 2 })).map(({ action }) => action)).toEqual(['revoked', 'deleted']);
    expect(statSync(join(dir, 'reserve')).size).toBe(RESERVE_BYTES - 2 * SHARE_BYTES);
    fill(2);
    const creating = keyring.create({ name: 'b', scopes: ['query'] });
    await expect(creating).rejects.toMatchObject({ code: 'overloaded' });
  });

  test('of another version, damaged, or in a folder that cannot be, is rejected in one line', async () => {
    const other = setUp();
    await other.store.close();
    const database = new DatabaseSync(join(other.dir, 'control.sqlite'));
    database.exec('PRAGMA user_version = 9');
    database.close();
    const damaged = setUp();
    await damaged.store.close();
    writeFileSync(join(damaged.dir, 'control.sqlite'), 'nonsense '.repeat(1000));
    const file = join(folder.path, 'a-file');
    writeFileSync(file, '');
    for (const [dir, message] of [
      [
        other.dir,
        /^the key store is of version 9, and this Tailrace uses version \d+: use the build [^\n]*$/,
      ],
      [damaged.dir, /^the key store .*control.sqlite cannot be opened: file is not a database$/],
      [file, /^the key store .* cannot be opened: [^\n]*$/],
    ] as const) {
      expect(() => openSqliteStore(dir)).toThrow(InputError);
      expect(() => openSqliteStore(dir)).toThrow(message);
    }
  });
});
