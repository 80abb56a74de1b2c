import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { announceService, findLocalService } from '../../src/cli/local-service.ts';
import { callRemote } from '../../src/cli/remote.ts';
import { PRIVATE_KEY, startTestService, temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);
afterEach(() => vi.restoreAllMocks());

test('no command follows a file of another user, which could have it send a key elsewhere', () => {
  const store = { dataDir: folder.path, clickhouseUrl: 'http://server' };
  const end = announceService(folder.path, { url: 'http://127.0.0.1:1', key: 'a' });
  expect(findLocalService(store)).toMatchObject({ key: 'a' });
  expect(findLocalService({ ...store, clickhouseUrl: '' })).toBeUndefined(); // nobody has the lock
  vi.spyOn(process, 'getuid').mockReturnValue(4_711);
  expect(() => findLocalService(store)).toThrow('belongs to another user; run this command as the user');
  vi.restoreAllMocks();
  end();
  expect(findLocalService(store)).toBeUndefined();
});

test('the routes of commands reject every other key', async () => {
  const { url, close } = await startTestService();
  const call = (path: string) => callRemote({ url, key: PRIVATE_KEY }, path, { body: {} });
  for (const name of ['reload', 'stop', 'backups', 'alert-tests'])
    await expect(call(`/api/local/${name}`)).rejects.toMatchObject({ code: 'forbidden' });
  await close();
  await expect(call('/api/local/reload')).rejects.toThrow('cannot be reached: connect ECONNREFUSED');
});
