import { afterAll, expect, test } from 'vitest';
import type { Caller } from '../../src/keys/keyring.ts';
import { openSqliteStore } from '../../src/keys/sqlite-store.ts';
import { createSessions } from '../../src/people/sessions.ts';
import { ownFolder } from '../support/service.ts';

const KEY: Caller = { keyId: 'k', scopes: ['query'], endpoints: undefined, sources: undefined, pins: {} };
const folder = await ownFolder();
const control = openSqliteStore(folder.path);
afterAll(() => control.close());

/** Sessions as after a start of the service; the rows stay. */
function startSessions(acceptsKeys: boolean) {
  return createSessions({
    store: control.sessions,
    keyring: { resume: () => KEY, countRejected() {} },
    callerOf: () => ({ ...KEY, keyId: 'person' }),
    limits: { idleMs: 60_000, staleMs: 0 },
    acceptsKeys,
    onFailure() {},
    now: () => 0,
  });
}

test('the session of a key ends when keys may no longer sign in, that of a person goes on', async () => {
  const session = { address: '', agent: '', replaces: undefined };
  const before = startSessions(true);
  const ofKey = await before.open({ ...session, owner: 'k', name: 'k', print: 'p' });
  const ofPerson = await before.open({ ...session, owner: 'person', name: 'Ada', claims: {} });
  const ask = async (sessions: typeof before, secret = '') => await sessions.authenticate(secret, '/');
  expect(await ask(before, ofKey)).toMatchObject({ keyId: 'k', isAmbient: true });
  const after = startSessions(false);
  await expect(ask(after, ofKey)).rejects.toMatchObject({ code: 'unauthorized' });
  expect(await ask(after, ofPerson)).toMatchObject({ keyId: 'person' });
});
