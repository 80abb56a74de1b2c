import { afterAll, afterEach, expect, test } from 'vitest';
import { endLeftProcesses, runCli, startCli } from '../support/cli.ts';
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

test.each([
  ['a store', ['logs.all'], '--follow needs --url: only a running service has live tails'],
  [
    'a table',
    ['logs.all', '--table', '--url', url],
    "option '--follow' cannot be used with option '--table'",
  ],
  [
    'an endpoint without a cursor',
    ['usage.api-counts', '-p', 'project=p', '-p', 'interval=daily', '--url', url],
    'has no live tail',
  ],
  [
    'another format',
    ['logs.all', '-p', 'project=p', '-p', 'format=csv', '--url', url],
    'leave -p format out',
  ],
])('query --follow does not work with %s', async (name, args, message) => {
  const { code, stderr } = await runCli(['query', ...args, '--follow'], { env: KEY });
  expect([code, stderr]).toEqual([name === 'a table' ? 2 : 1, expect.stringContaining(message)]);
});
