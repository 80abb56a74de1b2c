import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { openCore } from '../../src/service/open-core.ts';
import { endLeftProcesses, runCli, startCli, startServe } from '../support/cli.ts';
import { copyFewDefinitions } from '../support/definitions.ts';
import { toNdjson } from '../support/events.ts';
import { idsOf, post, TO_EDGE } from '../support/http.ts';
import { ownFolder, PRIVATE_KEY, testConfig } from '../support/service.ts';

const folder = await ownFolder();
afterEach(endLeftProcesses);
vi.setConfig({ testTimeout: 180_000 }); // each test starts the command several times

const at = (name: string) => join(folder.path, name);
const definitions = await copyFewDefinitions(folder.path);
const envOf = (name: string) => ({
  ...{ ...definitions, TAILRACE_PRIVATE_KEY: PRIVATE_KEY },
  ...{ TAILRACE_BACKUP_DIR: folder.path, TAILRACE_DATA_DIR: at(name) },
});
const run = (args: string[], name: string) => runCli(args, { env: envOf(name) });
const fill = async (name: string) =>
  expect(await run(['sample', '--rows', '3000'], name)).toMatchObject({ code: 0 });
const untilThere = (path: string, interval: number) =>
  vi.waitFor(() => expect(existsSync(path)).toBe(true), { timeout: 60_000, interval });

/** Sends events one request after another until it is stopped; remembers those that were acknowledged. */
function startWriting(url: string) {
  const acknowledged: string[] = [];
  let stopped = false;
  const writing = (async () => {
    for (let i = 0; !stopped; i++) {
      const events = Array.from({ length: 20 }, (_, j) => {
        const timestamp = new Date(Date.now() - ((i + j) % 3) * 86_400_000).toISOString();
        return { id: `${i}-${j}`, timestamp, project: 'p' };
      });
      const headers = { 'content-type': 'application/x-ndjson' };
      const sent = await post(url, TO_EDGE, toNdjson(events), headers).catch(() => undefined);
      if (sent?.status === 200) acknowledged.push(...events.map(({ id }) => id));
    }
  })();
  return {
    acknowledged,
    async stop() {
      stopped = true;
      await writing;
    },
  };
}

test('a backup under writes has every event that was acknowledged before it, after kill -9 and restore', async () => {
  const service = await startServe(envOf('live'));
  const { acknowledged, stop } = startWriting(service.url);
  await vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(200), 20_000);
  const before = [...acknowledged];
  expect(await run(['backup', at('backup')], 'live')).toMatchObject({ code: 0 });
  expect(acknowledged.length).toBeGreaterThan(before.length); // nothing stopped meanwhile
  await service.stop('SIGKILL');
  await stop();

  const restored = await run(['restore', at('backup')], 'restored');
  expect(restored).toMatchObject({ code: 0 });
  const core = await openCore(testConfig(at('restored'), envOf('restored')), 'a test');
  const found = await idsOf(core, 'p').finally(core.close);
  expect(new Set(found)).toEqual(new Set([...before, ...found]));
  const [, stored = ''] = /: ([\d,]+) events/.exec(restored.stdout) ?? [];
  expect(found.length).toBe(Number(stored.replaceAll(',', '')));
});

test('a restore that was killed leaves a directory that no command opens', async () => {
  await fill('stored');
  expect(await run(['backup', at('saved')], 'stored')).toMatchObject({ code: 0 });
  const restoring = startCli(['restore', at('saved')], { env: envOf('cut-data') });
  await untilThere(at('cut-data/store/store'), 5);
  restoring.child.kill('SIGKILL');
  await restoring.ended;
  for (const args of [['sample'], ['serve'], ['backup', at('of-cut')]])
    expect(await run(args, 'cut-data')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('"tailrace restore" did not finish'),
    });
});

test('a backup whose service is killed is never restored', async () => {
  await fill('cut-live');
  const service = await startServe(envOf('cut-live'));
  const writing = startCli(['backup', at('cut-backup')], { env: envOf('cut-live') });
  await untilThere(at('cut-backup'), 1);
  writing.child.kill('SIGKILL');
  await service.stop('SIGKILL');
  await writing.ended;
  expect(await run(['restore', at('cut-backup')], 'of-cut-live')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('an unfinished one'),
  });
});
