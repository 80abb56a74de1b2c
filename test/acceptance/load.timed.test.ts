import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { endLeftProcesses, startCli } from '../support/cli.ts';
import { edgeEvents, toNdjson } from '../support/events.ts';
import { EDGE, idsOf } from '../support/http.ts';
import { newProject, ownFolder, ownService, PUBLIC_KEY } from '../support/service.ts';

const folder = await ownFolder();
const service = await ownService();
afterEach(endLeftProcesses);
const env = { TAILRACE_KEY: PUBLIC_KEY };

test('standard input that stays open is sent as it comes', async () => {
  const project = newProject();
  const load = startCli(['load', EDGE, '-', '--url', service.url], { env });
  for (const [i, event] of edgeEvents(2, project).entries()) {
    load.child.stdin?.write(toNdjson([event]));
    await expect.poll(() => idsOf(service.core, project)).toEqual(['e0', 'e1'].slice(0, i + 1));
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
