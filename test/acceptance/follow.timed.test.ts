import { afterAll, afterEach, expect, test } from 'vitest';
import { endLeftProcesses, startCli } from '../support/cli.ts';
import { PRIVATE_KEY, startTestService, storeEvents } from '../support/service.ts';

const service = await startTestService();
afterAll(service.close);
afterEach(endLeftProcesses);
const { url, core, clock } = service;
const KEY = { TAILRACE_KEY: PRIVATE_KEY };

async function storeIds(project: string, ids: readonly string[]) {
  const events = ids.map((id) => ({ id, project, timestamp: new Date(++clock.now - 60_000).toISOString() }));
  await storeEvents(core, 'cloudflare.logs.prod', events, clock.now);
}

const idsIn = (text: string) => [...text.matchAll(/^\{"id":"(\w+)".*\}$/gm)].map(([, id]) => id);

test('query --follow prints the rows that are there, oldest first, then each new one as it comes', async () => {
  await storeIds('p1', ['a', 'b']);
  const { child, waitFor, output, ended } = startCli(
    ['query', 'logs.all', '-p', 'project=p1', '--follow', '--url', url],
    { env: KEY },
  );
  await waitFor(/"id":"b"/);
  await storeIds('p1', ['c', 'd']);
  await waitFor(/"id":"d"/);
  child.kill('SIGINT');
  await ended;
  expect(idsIn(output().stdout)).toEqual(['a', 'b', 'c', 'd']);
});

test('query --follow ends with the reason if the tail cannot go on', async () => {
  const { id, key } = await service.service.keyring.create({ name: 'leaver', scopes: ['query'] });
  await storeIds('p2', ['a']);
  const { waitFor, ended } = startCli(['query', 'logs.all', '-p', 'project=p2', '--follow', '--url', url], {
    env: { TAILRACE_KEY: key },
  });
  await waitFor(/"id":"a"/);
  await service.service.keyring.revoke(id);
  expect(await ended).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the live tail has ended (key_revoked): the key is no longer accepted'),
  });
});
