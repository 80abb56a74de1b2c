import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresStore } from '../../../src/keys/postgres-store.ts';
import { openSqliteStore } from '../../../src/keys/sqlite-store.ts';
import { hasPostgres, startPostgres, type TestPostgres } from '../../../trial/postgres.ts';
import { createTestKeyring, rejectionOf } from '../../support/keys.ts';
import { runProgram } from '../../support/program.ts';
import { temporaryFolder } from '../../support/service.ts';

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
    await old.keyring.flush();
    const silence = { id: 's', alert: 'a', labels: '{}', untilMs: 9e15, comment: 'x', author: 'cli' };
    await old.store.alerts.addSilence({ ...silence, createdMs: 1 });
    await old.store.close();

    const first = await keys('copy', '--from', from);
    expect([first.code, first.stdout]).toEqual([
      0,
      expect.stringContaining('2 keys copied, 0 existed already'),
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
    expect(await target.alerts.listSilences(0)).toEqual([{ ...silence, createdMs: 1 }]);
    const actions = (await keyring.log({ limit: 10 })).map(({ action }) => action);
    expect(actions).toEqual(['revoked', 'created', 'created']);

    await keyring.update(good.id, { name: 'changed since' });
    const second = await keys('copy', '--from', from);
    expect([second.code, second.stdout]).toEqual([
      0,
      expect.stringContaining('0 keys copied, 2 existed already'),
    ]);
    expect((await keyring.find(good.id))?.name).toBe('changed since');

    await target.close();
  });
});
