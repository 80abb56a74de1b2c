import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresStore } from '../../../src/keys/postgres-store.ts';
import type { SessionRecord } from '../../../src/keys/sessions/session-record.ts';
import { openSqliteStore } from '../../../src/keys/sqlite-store.ts';
import { hasPostgres, startPostgres, type TestPostgres } from '../../../trial/postgres.ts';
import { createTestKeyring, rejectionOf } from '../../support/keys.ts';
import { runProgram } from '../../support/program.ts';
import { temporaryFolder } from '../../support/service.ts';

const SIGN_IN_AGAIN = 'Sessions of the console are not copied: everyone signs in again.\n';
const SESSION: SessionRecord = {
  ...{
    id: '0123456789ab',
    hash: '00',
    owner: 'person:a',
    name: 'ada@example.com',
    claims: { groups: ['a'] },
  },
  ...{ print: '', login: 'a', createdMs: 1, seenMs: 1, expiresMs: 9e15, address: '127.0.0.1', agent: '' },
};

const folder = await temporaryFolder();
afterAll(folder.remove);

let postgres: TestPostgres;
let env: Record<string, string>;
const keys = (...args: string[]) => runProgram(['keys', ...args], env);

describe.skipIf(!hasPostgres)('tailrace keys with TAILRACE_CONTROL_URL', () => {
  beforeAll(async () => {
    postgres = await startPostgres();
    env = {
      TAILRACE_DATA_DIR: join(folder.path, 'data'),
      TAILRACE_CONTROL_URL: await postgres.createDatabase(),
      TAILRACE_TOKEN_SECRET: 'of-all-processes-0123456789abcdefghij',
    };
  });
  afterAll(() => postgres?.close());

  test('copies a data directory’s keys and audit trail, again without doing anything, and tells what differs', async () => {
    const from = join(folder.path, 'old');
    const old = createTestKeyring(openSqliteStore(from));
    const good = await old.keyring.create({ name: 'né"', scopes: ['query'], pins: { project: 'a' } });
    const gone = await old.keyring.create({ name: 'gone', scopes: ['ingest'] });
    await old.keyring.revoke(gone.id);
    await old.keyring.authenticate(good.key);
    const times = { createdMs: 1, updatedMs: 2 };
    const search = { id: 'a search', owner: good.id, name: 'slow', address: 'q=slow', ...times };
    const share = { shared: 'all', reach: '[]', author: 'né"' };
    await old.store.searches.save({ ...search, ...share });
    await old.store.searches.save({ ...search, ...share, id: 'of a person', owner: 'person:a' });
    const silence = { id: 's', alert: 'a', labels: '{}', untilMs: 9e15, comment: 'x', author: 'cli' };
    await old.store.alerts.addSilence({ ...silence, createdMs: 1 });
    expect(await old.store.sessions.add(SESSION)).toBe(true);
    for (let i = 0; i < 2; i++) {
      await rejectionOf(old.keyring.authenticate('wrong'));
      await old.keyring.flush(); // two entries that are the same in everything
    }
    await old.store.close();

    env['TAILRACE_CONTROL_URL'] = await postgres.createDatabase();
    const first = await keys('copy', '--from', from);
    expect([first.code, first.stdout]).toEqual([
      0,
      '2 keys copied, 0 existed already; 2 saved searches copied, 0 existed already; 5 entries of the audit trail copied, 0 existed already; 1 states, entries, silences and messages of alerts copied, 0 existed already.\n' +
        SIGN_IN_AGAIN,
    ]);
    const target = await openPostgresStore(env['TAILRACE_CONTROL_URL'] ?? '', {
      staleMs: 0,
      onState: () => {},
    });
    const { keyring } = createTestKeyring(target);
    expect(await keyring.authenticate(good.key)).toMatchObject({ keyId: good.id, pins: { project: 'a' } });
    expect((await rejectionOf(keyring.authenticate(gone.key))).message).toBe('the key has been revoked');
    expect(await keyring.find(good.id)).toMatchObject({
      ...good.record,
      hash: new Uint8Array(good.record.hash),
      lastUsedMs: 1_000_000,
    });
    expect(await target.searches.list(good.id)).toEqual([{ ...search, ...share }]);
    expect(await target.searches.list('person:a')).toHaveLength(1);
    expect(await target.alerts.listSilences(0)).toEqual([{ ...silence, createdMs: 1 }]);
    expect(await target.sessions.list()).toEqual([]);
    const actions = (await keyring.log({ limit: 10 })).map(({ action }) => action);
    expect(actions).toEqual(['refused', 'refused', 'revoked', 'created', 'created']);

    await keyring.update(good.id, { name: 'changed since' });
    const second = await keys('copy', '--from', from);
    expect([second.code, second.stdout]).toEqual([
      0,
      '0 keys copied, 2 existed already; 0 saved searches copied, 2 existed already; 0 entries of the audit trail copied, 5 existed already; 0 states, entries, silences and messages of alerts copied, 1 existed already.\n' +
        SIGN_IN_AGAIN,
    ]);
    expect((await keyring.find(good.id))?.name).toBe('changed since');

    await postgres.run(
      env['TAILRACE_CONTROL_URL'] ?? '',
      `UPDATE tailrace_keys SET hash = 'x' WHERE id = '${gone.id}'`,
    );
    const third = await keys('copy', '--from', from);
    expect([third.code, third.stderr]).toEqual([
      1,
      `tailrace: the key ${gone.id} exists in the target with another secret; it was not copied\n`,
    ]);
    await target.close();
  });
});
