import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { startFaultyProxy } from '../../trial/faulty-proxy.ts';
import { endLeftProcesses, startCli } from '../support/cli.ts';
import { edgeEvents, toNdjson } from '../support/events.ts';
import { EDGE, idsOf } from '../support/http.ts';
import { newProject, ownFolder, ownService, PUBLIC_KEY } from '../support/service.ts';

const folder = await ownFolder();
const service = await ownService();
const proxy = await startFaultyProxy(Number(new URL(service.url).port));
afterAll(() => proxy.close());
afterEach(async () => {
  proxy.fault = { kind: 'none' };
  await endLeftProcesses();
});
const env = { TAILRACE_KEY: PUBLIC_KEY };
const args = (url: string) => ['load', EDGE, '-', '--url', url];
const IDS = ['e0', 'e1', 'e2', 'e3', 'e4'];

test('a service that is unavailable is tried again, and what was sent is stored once', async () => {
  const project = newProject();
  proxy.fault = { kind: 'refuse' };
  const load = startCli(args(proxy.url), { env, stdin: toNdjson(edgeEvents(5, project)) });
  await load.waitFor(/: it cannot be reached: .*; trying again in 1 s/);
  proxy.fault = { kind: 'cut', afterBytes: 0, times: 2 }; // then its responses are lost
  expect((await load.ended).code).toBe(0);
  expect(await idsOf(service.core, project)).toEqual(IDS);
});

test('standard input that stays open is sent as it comes', async () => {
  const project = newProject();
  const load = startCli(args(service.url), { env });
  for (const [i, event] of edgeEvents(2, project).entries()) {
    load.child.stdin?.write(toNdjson([event]));
    await expect.poll(() => idsOf(service.core, project)).toEqual(IDS.slice(0, i + 1));
  }
  load.child.stdin?.end();
  expect((await load.ended).code).toBe(0);
});

test('SIGTERM stops a load: what was read is stored, the message says how far it came, exit 3', async () => {
  const project = newProject();
  const file = join(folder.path, 'long.ndjson');
  await writeFile(file, toNdjson(edgeEvents(200_000, project)));
  const load = startCli(['load', EDGE, file, '--url', service.url], { env, stdin: '' });
  await expect.poll(async () => (await idsOf(service.core, project)).length).toBeGreaterThan(0);
  load.child.kill('SIGTERM');
  const { code, stderr } = await load.ended;
  const [, line = ''] =
    /stopped by SIGTERM after line (\d+) of \S+; what was read is stored/.exec(stderr) ?? [];
  expect([code, stderr]).toEqual([3, expect.not.stringContaining('    at ')]);
  expect((await idsOf(service.core, project)).length).toBe(Number(line));
});
