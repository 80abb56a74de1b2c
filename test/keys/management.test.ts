import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { openControlStore } from '../../src/keys/control-store.ts';
import { MIGRATIONS } from '../../src/keys/migrations.ts';
import { createSecret, hashKey } from '../../src/keys/secret.ts';
import { openTestKeyring, refusalOf } from '../support/keys.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);
let made = 0;
const setUp = () => openTestKeyring(join(folder.path, String(++made)));

const LIMITED = {
  name: 'limited',
  description: 'of a test',
  scopes: ['query'] as const,
  endpoints: ['logs.all'],
  sources: ['postgres.logs'],
  pins: { project: 'abc', project_tier: 'PRO' },
  rate: { perSecond: 0.5, burst: 2 },
  expiresMs: 9_000_000,
};

describe('a key', () => {
  test('brings all its limits to whoever is let in with it', () => {
    const { keyring } = setUp();
    const { id, key } = keyring.create(LIMITED);
    const { name: _, description: __, ...grant } = LIMITED;
    expect(keyring.authenticate(key)).toEqual({ keyId: id, ...grant });
  });

  test('can be changed in part, and acts so at once', () => {
    const { keyring } = setUp();
    const { id, key } = keyring.create(LIMITED);
    keyring.update(id, { pins: { project: 'xyz' }, endpoints: undefined });
    expect(keyring.authenticate(key)).toMatchObject({
      pins: { project: 'xyz' },
      endpoints: undefined,
      sources: ['postgres.logs'],
      rate: LIMITED.rate,
    });
    expect(keyring.update('nobody', {})).toBeUndefined();
    keyring.revoke(id);
    expect(() => keyring.update(id, { name: 'again' })).toThrow('has been revoked');
  });

  test('has a successor with the same rights, and both are good until the overlap ends', () => {
    const { keyring, clock } = setUp();
    const old = keyring.create({ name: 'old', scopes: ['query'], pins: { project: 'abc' } });
    const next = keyring.rotate(old.id, 1000);
    expect(keyring.authenticate(next?.key).pins).toEqual({ project: 'abc' });
    clock.now += 999;
    keyring.authenticate(old.key);
    clock.now++;
    expect(refusalOf(() => keyring.authenticate(old.key)).message).toBe('the key has expired');
    expect(keyring.authenticate(next?.key).expiresMs).toBeUndefined();
    expect(() => keyring.rotate(old.id, 1000)).toThrow('has expired');
    expect(keyring.rotate('nobody', 1000)).toBeUndefined();
  });

  test('has one successor: another would end with the overlap', () => {
    const { keyring } = setUp();
    const old = keyring.create({ name: 'old', scopes: ['query'] });
    const next = keyring.rotate(old.id, 1000);
    expect(keyring.find(old.id)?.successor).toBe(next?.id);
    expect(() => keyring.rotate(old.id, 1000)).toThrow(`has been rotated to ${next?.id} already`);
    const third = keyring.rotate(next?.id ?? '', 0);
    expect(keyring.authenticate(third?.key).expiresMs).toBeUndefined();
  });

  test('that expires within the overlap expires when it would have', () => {
    const { keyring, clock } = setUp();
    const { id } = keyring.create({ name: 'old', scopes: ['query'], expiresMs: clock.now + 10 });
    keyring.rotate(id, 1000);
    expect(keyring.find(id)?.expiresMs).toBe(clock.now + 10);
  });

  test('tells when it was last used, once that was written', () => {
    const { keyring, clock } = setUp();
    const { id, key } = keyring.create(LIMITED);
    keyring.authenticate(key);
    clock.now += 5;
    keyring.authenticate(key);
    expect(keyring.find(id)?.lastUsedMs).toBeUndefined();
    keyring.flush();
    expect(keyring.find(id)?.lastUsedMs).toBe(clock.now);
  });

  test('of a store of the first version is there with no limits', () => {
    const dir = join(folder.path, String(++made));
    openControlStore(dir).close();
    const file = join(dir, 'control.sqlite');
    const database = new DatabaseSync(file);
    const { id, key } = createSecret();
    database.exec(`DROP TABLE keys; DROP TABLE audit; PRAGMA user_version = 1; ${MIGRATIONS[0]}`);
    database
      .prepare(`INSERT INTO keys VALUES (?, 'old', ?, 'query,manage', 5, NULL, NULL)`)
      .run(id, hashKey(key));
    database.close();
    const { store, keyring } = openTestKeyring(dir);
    expect(keyring.authenticate(key)).toEqual({ keyId: id, scopes: ['query', 'manage'], pins: {} });
    store.close();
  });

  test('is listed by pages, newest first, each once', () => {
    const { keyring, clock } = setUp();
    const ids = Array.from({ length: 7 }, (_, i) => {
      clock.now += i % 2; // some at the same instant
      return keyring.create({ name: String(i), scopes: [] }).id;
    });
    const seen: string[] = [];
    for (let page = keyring.list({ limit: 3 }); page.length > 0; ) {
      seen.push(...page.map((key) => key.id));
      page = keyring.list({ limit: 3, before: seen.at(-1) ?? '' });
    }
    expect(seen).toEqual(keyring.list().map((key) => key.id));
    expect(seen.toSorted()).toEqual(ids.toSorted());
    expect(keyring.list({ limit: 3, before: 'nobody' })).toEqual([]);
  });
});

describe('the audit trail', () => {
  test('has what was done with keys, by whom, newest first', () => {
    const { keyring, clock } = setUp();
    const { id } = keyring.create(LIMITED, 'private');
    keyring.update(id, { scopes: ['ingest'] });
    const next = keyring.rotate(id, 0, 'abc');
    clock.now++;
    keyring.revoke(next?.id ?? '');
    keyring.revoke(next?.id ?? ''); // was so already
    const entries = keyring.log({ limit: 10 });
    expect(entries.map(({ action, keyId, actor }) => [action, keyId, actor])).toEqual([
      ['revoked', next?.id, 'cli'],
      ['rotated', id, 'abc'],
      ['changed', id, 'cli'],
      ['created', id, 'private'],
    ]);
    expect(entries.map((entry) => entry.count)).toEqual([1, 1, 1, 1]);
    expect(entries.at(-1)?.detail).toContain('project="abc"');
    expect(entries[1]?.detail).toBe(`successor ${next?.id}`);
    const [first, second] = entries;
    expect(keyring.log({ limit: 1 })).toEqual([first]);
    expect(keyring.log({ limit: 1, before: first?.id })).toEqual([second]);
  });

  test('counts what was refused by key and reason, and holds no secret', () => {
    const { keyring, clock, store } = setUp();
    const { id, key } = keyring.create({ name: 'a', scopes: [] });
    const forged = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
    for (let i = 0; i < 10_000; i++) refusalOf(() => keyring.authenticate(createSecret().key));
    for (const other of [undefined, forged, 'junk', 'junk']) refusalOf(() => keyring.authenticate(other));
    keyring.revoke(id);
    refusalOf(() => keyring.authenticate(key));
    keyring.refused(id, 'pin');
    keyring.flush();
    keyring.flush();
    const refused = keyring.log({ limit: 100 }).filter((entry) => entry.action === 'refused');
    expect(refused.map(({ keyId, detail, count }) => [keyId, detail, count])).toEqual([
      [id, 'pin', 1],
      [id, 'revoked', 1],
      [id, 'unknown', 1],
      ['', 'missing', 1],
      ['', 'unknown', 10_002],
    ]);
    expect(refused.every((entry) => entry.actor === '' && entry.atMs === clock.now)).toBe(true);
    const secret = key.split('_').slice(2).join('_');
    expect(JSON.stringify(store.audit.list({ limit: 1000 }))).not.toContain(secret);
  });

  test('counts refusals of more keys than it follows without their names', () => {
    const { keyring } = setUp();
    for (let i = 0; i < 5_000; i++) keyring.refused(`key${i}`, 'pin');
    keyring.refused('key0', 'pin');
    keyring.flush();
    const entries = keyring.log({ limit: 10_000 });
    expect(entries).toHaveLength(1_001);
    expect(entries.reduce((sum, entry) => sum + entry.count, 0)).toBe(5_001);
    expect(entries[0]).toMatchObject({ keyId: '', count: 4_000 });
  });

  test('keeps the newest 50,000 refusals, and every change beside them', () => {
    const { keyring, store } = setUp();
    const { id } = keyring.create({ name: 'a', scopes: [] });
    store.transaction(() => {
      for (let i = 1; i <= 50_300; i++)
        store.audit.add({ atMs: i, action: 'refused', keyId: '', actor: '', detail: 'missing', count: 1 });
    });
    const entries = keyring.log({ limit: 200_000 });
    expect(entries.length).toBeGreaterThan(50_000);
    expect(entries.length).toBeLessThan(50_200);
    expect(entries.at(-1)).toMatchObject({ action: 'created', keyId: id });
    expect(entries[0]?.atMs).toBe(50_300);
  });
});

test('a change that cannot be noted is not made', () => {
  const { keyring, store } = setUp();
  const { id } = keyring.create({ name: 'a', scopes: ['query'] });
  expect(() =>
    store.transaction(() => {
      store.revokeKey(id, 5);
      throw new Error('the disk is full');
    }),
  ).toThrow('the disk is full');
  expect(keyring.find(id)?.revokedMs).toBeUndefined();
});
