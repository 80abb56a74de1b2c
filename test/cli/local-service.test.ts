import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { afterEach, expect, test, vi } from 'vitest';
import { announceService, findLocalService } from '../../src/cli/local-service.ts';
import { callRemote } from '../../src/cli/remote.ts';
import { ownFolder, PRIVATE_KEY, startTestService } from '../support/service.ts';

const folder = await ownFolder();
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
  for (const name of ['reload', 'stop', 'backups'])
    await expect(call(`/api/local/${name}`)).rejects.toMatchObject({ code: 'forbidden' });
  await close();
  await expect(call('/api/local/reload')).rejects.toThrow('cannot be reached: connect ECONNREFUSED');
});

test('the certificate of a service of this machine may be for other names, that of any other may not', async () => {
  const pair = await Promise.all(['cert', 'key'].map((part) => readFile(`trial/tls/one.${part}.pem`)));
  const server = createServer({ cert: pair[0], key: pair[1] }, (_, response) => {
    response.setHeader('content-type', 'application/json').end('{"result":[]}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as { port: number };
  const remote = { url: `https://127.0.0.1:${port}/`, key: 'x' };
  try {
    expect(await callRemote({ ...remote, isLocal: true }, '/api/me')).toEqual({ result: [] });
    await expect(callRemote(remote, '/api/me')).rejects.toMatchObject({ code: 'engine_unavailable' });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
