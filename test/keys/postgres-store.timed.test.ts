import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { InputError } from '../../src/errors.ts';
import type { ControlStore } from '../../src/keys/control-store.ts';
import { createSecret } from '../../src/keys/grant.ts';
import { openPostgresStore } from '../../src/keys/postgres-store.ts';
import { type FaultyProxy, startFaultyProxy } from '../../trial/faulty-proxy.ts';
import { hasPostgres, startPostgres, type TestPostgres } from '../../trial/postgres.ts';
import { createTestKeyring, rejectionOf } from '../support/keys.ts';
import { controlStoreContract } from './contract.ts';

const STALE_MS = 60_000;

let postgres: TestPostgres;
let proxy: FaultyProxy;
const opened: ControlStore[] = [];

/** @param ms added to what the store takes for the time that has passed; told of each change between there and away */
async function open(url: string, { staleMs = STALE_MS, ms = { passed: 0 } } = {}) {
  const states: string[] = [];
  const store = await openPostgresStore(url, {
    staleMs,
    onState: (failure) => states.push(failure === undefined ? 'back' : 'away'),
    ticks: () => performance.now() + ms.passed,
  });
  opened.push(store);
  return { states, ms, ...createTestKeyring(store) };
}

/** The same database by way of the proxy. */
function throughProxy(url: string): string {
  const other = new URL(url);
  other.port = new URL(proxy.url).port;
  return other.href;
}

const untilUp = (store: ControlStore, isUp: boolean) =>
  vi.waitFor(() => expect(store.isUp()).toBe(isUp), { timeout: 10_000, interval: 10 });

describe.skipIf(!hasPostgres)('in PostgreSQL', () => {
  beforeAll(async () => {
    postgres = await startPostgres();
    proxy = await startFaultyProxy(postgres.port);
  });
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close().catch(() => {}); // the test may have closed it
    proxy.fault = { kind: 'none' };
  });
  afterAll(async () => {
    await proxy?.close();
    await postgres?.close();
  });

  controlStoreContract({
    create: () => postgres.createDatabase(),
    open: async (url) => (await open(url)).store,
  });

  test('entries of the audit trail are committed in the order of their ids, so that a copy misses none', async () => {
    const url = await postgres.createDatabase();
    const { store } = await open(url);
    const client = new Client(url);
    await client.connect();
    await client.query('BEGIN');
    await client.query('UPDATE tailrace_changes SET count = count + 1');
    await client.query(
      "INSERT INTO tailrace_audit (at_ms, action, key_id, actor, detail, count, address) VALUES (1, 'created', '', 'a', 'first', 1, '')",
    );
    const entry = { atMs: 2, action: 'created', keyId: '', actor: 'b', detail: 'second', count: 1 } as const;
    const second = store.record([entry]);
    const waiting =
      "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    await vi.waitFor(async () => expect(await postgres.run(url, waiting)).toHaveLength(1), { interval: 10 });
    await client.query('COMMIT');
    await client.end();
    await second;
    const batch = await store.auditCopy.next();
    expect(batch?.entries.map(({ detail }) => detail)).toEqual(['first', 'second']);
  });

  describe('opening it', () => {
    test('by many processes at the same time makes its tables once', async () => {
      const url = await postgres.createDatabase();
      const all = await Promise.all(Array.from({ length: 8 }, () => open(url)));
      for (const { keyring } of all) await keyring.create({ name: 'a', scopes: [] });
      expect(await all[0]?.keyring.list()).toHaveLength(8);
      expect(await postgres.run(url, 'SELECT * FROM tailrace_schema')).toHaveLength(1);
    });

    test('of another version is rejected in one line', async () => {
      const url = await postgres.createDatabase();
      await open(url);
      await postgres.run(url, 'UPDATE tailrace_schema SET version = 7');
      await expect(open(url)).rejects.toThrow(
        /^TAILRACE_CONTROL_URL: cannot be used: its tables are of version 7, and this Tailrace uses version \d+: [^\n]*$/,
      );
    });

    test.each<[string, (url: string) => string, RegExp]>([
      [
        'a wrong password',
        (url) => url.replace('p%40ss', 's3cret'),
        /password authentication failed for user "owner"$/,
      ],
      ['no server', (url) => url.replace(/:\d+\//, ':1/'), /connect ECONNREFUSED 127\.0\.0\.1:1$/],
      ['an authority that nobody knows', (url) => `${url}?sslmode=verify-full`, /self-signed certificate/],
    ])('with %s is rejected in one line without the password', async (_, spoil, message) => {
      const url = spoil(await postgres.createDatabase());
      const failure: unknown = await open(url).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(InputError);
      const [line, ...others] = (failure as InputError).faults;
      expect([line, others]).toEqual([expect.stringMatching(message), []]);
      expect(line).not.toMatch(/p@ss|p%40ss|s3cret|\n/);
    });
  });

  describe('keys that were seen', () => {
    const setUp = async (options = {}) => {
      const url = await postgres.createDatabase();
      const direct = await open(url);
      const made = await direct.keyring.create({ name: 'a', scopes: ['query'] });
      const unseen = await direct.keyring.create({ name: 'b', scopes: ['query'] });
      const here = await open(throughProxy(url), options);
      await here.keyring.authenticate(made.key);
      return { url, direct, here, made, unseen };
    };

    test('are all read anew where the database is one of before, as from a backup', async () => {
      const { url, here, made } = await setUp();
      await postgres.run(
        url,
        `UPDATE tailrace_changes SET count = 0;
          UPDATE tailrace_keys SET record = jsonb_set(record::jsonb, '{revokedMs}', '5')::text`,
      );
      const reason = async () => (await rejectionOf(here.keyring.authenticate(made.key))).message;
      await expect.poll(reason, { timeout: 2_000, interval: 20 }).toBe('the key has been revoked');
    });

    test('are accepted while it is away, others answered 503; it comes back by itself', async () => {
      const { here, direct, made, unseen } = await setUp();
      proxy.fault = { kind: 'refuse' };
      proxy.reset();
      await untilUp(here.store, false);
      expect(here.keyring.authenticate(made.key)).toMatchObject({ keyId: made.id });
      expect((await here.keyring.authenticate(made.key)).keyId).toBe(made.id);
      for (const work of [
        () => here.keyring.authenticate(unseen.key),
        () => here.keyring.authenticate(createSecret().key),
        () => here.keyring.list(),
        () => here.keyring.log({ limit: 1 }),
        () => here.keyring.create({ name: 'x', scopes: [] }),
        () => here.keyring.revoke(made.id),
      ]) {
        const { code, status, message, retryAfterSeconds } = await rejectionOf(work());
        expect([code, status, retryAfterSeconds]).toEqual(['engine_unavailable', 503, 1]);
        expect(message).toContain('the control store does not respond');
      }
      await direct.keyring.revoke(made.id);
      proxy.fault = { kind: 'none' };
      const backMs = performance.now();
      await untilUp(here.store, true);
      expect(performance.now() - backMs).toBeLessThan(2_000);
      expect((await here.keyring.authenticate(unseen.key)).keyId).toBe(unseen.id);
      expect((await rejectionOf(here.keyring.authenticate(made.key))).message).toBe(
        'the key has been revoked',
      );
      expect(here.states).toEqual(['away', 'back']);
    });
  });
});
