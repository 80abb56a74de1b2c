import { describe, expect, test } from 'vitest';
import { InputError } from '../../src/errors.ts';
import type { AuditEntry } from '../../src/keys/audit.ts';
import type { ControlStore } from '../../src/keys/control-store.ts';
import { createSecret, findKeyId, hashKey, type KeyRecord } from '../../src/keys/grant.ts';
import { createTestKeyring, rejectionOf } from '../support/keys.ts';
import { alertStoreContract } from './alerts-contract.ts';

/** A kind of control store. */
export interface Backend {
  /** An empty store. @returns where it is */
  create(): Promise<string>;
  /** Opens it, as another process would; closed after the test. */
  open(place: string): Promise<ControlStore>;
}

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

/** What every control store does. */
export function controlStoreContract({ create, open }: Backend): void {
  const setUp = async () => {
    const place = await create();
    return { place, ...createTestKeyring(await open(place)) };
  };
  /** Two processes on one store. */
  const setUpTwo = async () => {
    const { place, keyring, store } = await setUp();
    const other = createTestKeyring(await open(place));
    return { place, store, keyring, other: other.store, elsewhere: other.keyring };
  };

  alertStoreContract(async () => {
    const { store, other } = await setUpTwo();
    return [store.alerts, other.alerts];
  });

  describe('a key', () => {
    test('brings all its limits to whoever is let in with it, and can be changed in part', async () => {
      const { keyring } = await setUp();
      const { id, key } = await keyring.create(LIMITED);
      const { name: _, description: __, ...grant } = LIMITED;
      expect(await keyring.authenticate(key)).toEqual({ keyId: id, ...grant });
      await keyring.update(id, { pins: { project: 'xyz' }, endpoints: undefined });
      const { endpoints: ___, ...others } = grant;
      expect(await keyring.authenticate(key)).toEqual({ keyId: id, ...others, pins: { project: 'xyz' } });
      expect(await keyring.update('nobody', {})).toBeUndefined();
      await keyring.revoke(id);
      await expect(keyring.update(id, { name: 'again' })).rejects.toThrow('has been revoked');
    });

    test('has a successor with the same rights, and both are good until the overlap ends', async () => {
      const { keyring, clock } = await setUp();
      const old = await keyring.create({ name: 'old', scopes: ['query'], pins: { project: 'abc' } });
      const next = await keyring.rotate(old.id, 1000);
      expect((await keyring.authenticate(next?.key)).pins).toEqual({ project: 'abc' });
      clock.now += 999;
      await keyring.authenticate(old.key);
      clock.now++;
      expect((await rejectionOf(keyring.authenticate(old.key))).message).toBe('the key has expired');
      expect((await keyring.authenticate(next?.key)).expiresMs).toBeUndefined();
      await expect(keyring.rotate(old.id, 1000)).rejects.toThrow('has expired');
      expect(await keyring.rotate('nobody', 1000)).toBeUndefined();
    });

    test('has one successor, and never expires later than it would have', async () => {
      const { keyring, clock } = await setUp();
      const old = await keyring.create({ name: 'old', scopes: ['query'], expiresMs: clock.now + 10 });
      const next = await keyring.rotate(old.id, 1000);
      expect(await keyring.find(old.id)).toMatchObject({ successor: next?.id, expiresMs: clock.now + 10 });
      // Another successor would end with the overlap.
      await expect(keyring.rotate(old.id, 1000)).rejects.toThrow(`has been rotated to ${next?.id} already`);
    });
  });

  describe('the audit trail', () => {
    test('has what was done with keys, by whom, newest first', async () => {
      const { keyring, clock } = await setUp();
      const { id } = await keyring.create(LIMITED, { actor: 'private' });
      await keyring.update(id, { scopes: ['ingest'] });
      const next = await keyring.rotate(id, 0, { actor: 'abc' });
      clock.now++;
      await keyring.revoke(next?.id ?? '');
      await keyring.revoke(next?.id ?? ''); // was so already
      const entries = await keyring.log({ limit: 10 });
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
      expect(await keyring.log({ limit: 1 })).toEqual([first]);
      expect(await keyring.log({ limit: 1, before: first?.id })).toEqual([second]);
    });

    test('counts what was rejected by key, reason and few of many addresses, and holds no secret', async () => {
      const { keyring, clock, store } = await setUp();
      const { id, key } = await keyring.create({ name: 'a', scopes: [] });
      const forged = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
      for (const other of [forged, 'junk', 'junk']) await rejectionOf(keyring.authenticate(other));
      for (let i = 0; i < 2_000; i++) await rejectionOf(keyring.authenticate(undefined, `2001:db8::${i}`));
      await keyring.revoke(id);
      await rejectionOf(keyring.authenticate(key));
      keyring.countRejected(id, 'pin', '192.0.2.9');
      for (const _ of [1, 2]) await keyring.flush();
      const refused = (await keyring.log({ limit: 100 })).filter((entry) => entry.action === 'refused');
      expect(refused.map(({ keyId, detail, count }) => [keyId, detail, count]).toSorted()).toEqual([
        ['', 'missing from 2001:db8::0, 2001:db8::1, 2001:db8::2 and others', 2_000],
        ['', 'unknown', 2],
        [id, 'pin from 192.0.2.9', 1],
        [id, 'revoked', 1],
        [id, 'unknown', 1],
      ]);
      expect(refused.every((entry) => entry.actor === '' && entry.atMs === clock.now)).toBe(true);
      const secret = key.split('_').slice(2).join('_');
      expect(JSON.stringify(await store.listEntries({ limit: 1000 }))).not.toContain(secret);
    });

    test('keeps the newest 50,000 refusals, and every change beside them', async () => {
      const { keyring, store } = await setUp();
      const { id } = await keyring.create({ name: 'a', scopes: [] });
      const refusal = (atMs: number): AuditEntry => ({
        ...{ atMs, action: 'refused', keyId: '', actor: '', detail: 'missing', count: 1 },
      });
      for (let i = 0; i < 50_300; i += 10_060) {
        const entries = Array.from({ length: 10_060 }, (_, at) => refusal(i + at + 1));
        await store.record(entries);
      }
      const entries = await keyring.log({ limit: 200_000 });
      expect(entries.length).toBeGreaterThan(50_000);
      expect(entries.length).toBeLessThan(50_200);
      expect(entries.at(-1)).toMatchObject({ action: 'created', keyId: id });
      expect(entries[0]?.atMs).toBe(50_300);
    });
  });

  describe('the copy of the audit trail', () => {
    const entriesOf = (name: string, count: number) =>
      Array.from({ length: count }, (_, i): AuditEntry => {
        return { atMs: 1, action: 'created', keyId: '', actor: name, detail: `${name} ${i}`, count: 1 };
      });
    /** Copies until nothing is left. */
    const copyAll = async ({ auditCopy }: ControlStore) => {
      const details: string[] = [];
      for (let batch = await auditCopy.next(); batch !== undefined; batch = await auditCopy.next()) {
        details.push(...batch.entries.map(({ detail }) => detail));
        await auditCopy.done(batch);
      }
      return details;
    };

    test('has every entry once, oldest first, in batches', async () => {
      const { store } = await setUp();
      expect(await store.auditCopy.next()).toBeUndefined();
      const entries = entriesOf('a', 2_500);
      await store.record(entries);
      expect((await store.auditCopy.next())?.entries).toHaveLength(1_000);
      expect(await copyAll(store)).toEqual(entries.map(({ detail }) => detail));
      await store.record(entriesOf('b', 1));
      expect(await copyAll(store)).toEqual(['b 0']);
    });

    test('is the same batch for every process until one has copied it, with what comes later in the next', async () => {
      const { store, other } = await setUpTwo();
      await store.record(entriesOf('a', 2));
      const batch = await store.auditCopy.next();
      await store.record(entriesOf('b', 1));
      expect(await other.auditCopy.next()).toEqual(batch);
      if (batch !== undefined) for (const each of [store, other]) await each.auditCopy.done(batch);
      const next = await other.auditCopy.next();
      expect(next).toMatchObject({ after: batch?.until, entries: [{ detail: 'b 0' }] });
      if (batch !== undefined) await store.auditCopy.done(batch); // late
      expect(await store.auditCopy.next()).toEqual(next);
    });
  });

  describe('a store', () => {
    test('keeps texts and hashes as they are, also after it was closed', async () => {
      const { keyring, store, place } = await setUp();
      const texts = [`né"'\\;--`, '$1 %s {}', '\u{1f511}\u202e', 'null', '\\x00', 'a\0b\nc', ' '.repeat(9)];
      const made = new Map<string, string>();
      for (const text of texts) {
        const pins = { project: text, [text]: 'x' };
        const fields = { name: text, description: text, scopes: [], pins, endpoints: [text] };
        made.set(text, (await keyring.create(fields)).key);
      }
      await store.close();
      const again = await open(place);
      for (const [name, key] of made) {
        const found = await again.readKey(findKeyId(key) ?? '');
        expect(found).toMatchObject({ name, description: name, endpoints: [name] });
        expect(found?.pins).toEqual({ project: name, [name]: 'x' });
        expect(found?.hash).toEqual(new Uint8Array(hashKey(key)));
      }
    });

    test('writes a detail with a NUL or half a character all the same', async () => {
      const { store } = await setUp();
      const entry = { atMs: 1, action: 'refused', keyId: '', actor: '', count: 1 } as const;
      await store.record([{ ...entry, detail: 'a\0\ud800' }]);
      expect((await store.listEntries({ limit: 1 }))[0]?.detail).toBe('a\ufffd\ufffd');
    });

    test('writes nothing of a change that is rejected', async () => {
      const { keyring, store } = await setUp();
      const { id, record } = await keyring.create({ name: 'a', scopes: ['query'] });
      const { id: newId, hash } = createSecret();
      const refused = store.change([id], () => {
        throw new InputError(['no']);
      });
      await expect(refused).rejects.toThrow('no');
      // Its second key is there already, so nothing of it is written.
      const entry = { atMs: 1, action: 'changed', keyId: id, actor: '', detail: '', count: 1 } as const;
      const broken = store.change([id], () => ({
        add: [{ ...record, id: newId, hash }, record],
        entries: [entry],
        result: 1,
      }));
      await expect(broken).rejects.toThrow();
      expect((await keyring.list()).map((key) => key.id)).toEqual([id]);
      expect((await keyring.log({ limit: 10 })).map(({ action }) => action)).toEqual(['created']);
    });

    test('looks at the key as it is when it is changed, and rejects the change for it', async () => {
      const { keyring, elsewhere } = await setUpTwo();
      const { id, key } = await keyring.create({ name: 'a', scopes: ['query'] });
      await elsewhere.authenticate(key);
      await keyring.update(id, { pins: { project: 'of another' } });
      const by = {
        actor: 'x',
        check: (old: KeyRecord) => {
          if (old.pins['project'] !== undefined) throw new InputError(['not yours']);
        },
      };
      for (const work of [
        () => elsewhere.update(id, { name: 'b' }, by),
        () => elsewhere.rotate(id, 0, by),
        () => elsewhere.revoke(id, by),
      ])
        await expect(work()).rejects.toThrow('not yours');
      expect(await keyring.find(id)).toMatchObject({ name: 'a', revokedMs: undefined, successor: undefined });
    });
  });

  describe('two processes on one store', () => {
    test('see each other’s changes', async () => {
      const { keyring, elsewhere } = await setUpTwo();
      const { id, key } = await keyring.create({ name: 'a', scopes: ['query'] });
      expect((await elsewhere.authenticate(key)).keyId).toBe(id);
      await elsewhere.revoke(id);
      expect((await rejectionOf(elsewhere.authenticate(key))).message).toBe('the key has been revoked');
      const reason = () => Promise.resolve(keyring.authenticate(key)).catch((error: Error) => error.message);
      await expect.poll(reason).toBe('the key has been revoked');
    });

    test('write over nothing that the other changed a moment ago', async () => {
      const { keyring, elsewhere } = await setUpTwo();
      const { id, key } = await keyring.create({ name: 'a', scopes: ['query'] });
      await elsewhere.authenticate(key);
      await keyring.update(id, { pins: { project: 'abc' } });
      await elsewhere.update(id, { name: 'b' });
      expect(await keyring.find(id)).toMatchObject({ name: 'b', pins: { project: 'abc' } });
      await keyring.revoke(id);
      await expect(elsewhere.rotate(id, 0)).rejects.toThrow(/has been revoked/);
    });

    test('rotate one key at the same time: one of them does', async () => {
      const { keyring, elsewhere } = await setUpTwo();
      for (let i = 0; i < 10; i++) {
        const { id } = await keyring.create({ name: 'a', scopes: ['query'] });
        const outcomes = await Promise.allSettled([keyring.rotate(id, 1000), elsewhere.rotate(id, 1000)]);
        expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
        const made = outcomes.find((one) => one.status === 'fulfilled')?.value;
        expect((await keyring.find(id))?.successor).toBe(made?.id);
      }
      expect(await keyring.list()).toHaveLength(20);
    });
  });

  test('sessions are listed newest first', async () => {
    const store = await open(await create());
    const ids = ['a1', 'b2', 'c3', 'd4'];
    for (const [i, id] of ids.entries())
      await store.sessions.add({
        ...{ id, hash: 'x', owner: i === 1 ? 'other' : 'one', name: id, claims: {}, print: '', login: '' },
        ...{ createdMs: i < 3 ? 5 : 6, seenMs: 6, expiresMs: 9, address: '', agent: '' },
      });
    const idsOf = async (owner?: string) => (await store.sessions.list(owner)).map(({ id }) => id);
    expect([await idsOf(), await idsOf('one')]).toEqual([
      ['d4', 'c3', 'b2', 'a1'],
      ['d4', 'c3', 'a1'],
    ]);
  });
}
