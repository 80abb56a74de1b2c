import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { endLeftProcesses, runCli, startCli, startServe } from '../support/cli.ts';
import { ON_SERVER } from '../support/cli-engine.ts';
import { edgeEvents, toNdjson } from '../support/events.ts';
import { get, QUERY_PATH } from '../support/http.ts';
import { PRIVATE_KEY, temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);
afterEach(endLeftProcesses);
vi.setConfig({ testTimeout: 120_000 }); // each test starts the command several times

const EDGE = 'cloudflare.logs.prod';
let stores = 0;

/** Settings of a store of its own with 30 events of `gone`, and 20 of `kept`. */
async function fillStore(name = `store${stores++}`) {
  const dataDir = join(folder.path, name);
  await mkdir(dataDir, { recursive: true });
  const env = { TAILRACE_DATA_DIR: dataDir, TAILRACE_PRIVATE_KEY: PRIVATE_KEY };
  const file = join(folder.path, 'events.ndjson');
  await writeFile(file, toNdjson([...edgeEvents(30, 'gone'), ...edgeEvents(20, 'kept')]));
  expect(await runCli(['load', EDGE, file], { env })).toMatchObject({ code: 0 });
  return { dataDir, env };
}

describe('tailrace delete', () => {
  test.skipIf(ON_SERVER)(
    'beside a service: through it, whose cache has nothing of them any more',
    async () => {
      const { env } = await fillStore();
      const service = await startServe(env);
      const path = `${QUERY_PATH}/usage.api-counts?project=gone&interval=daily`;
      const requests = async () => (await get(service.url, path)).body.result;
      expect(await requests()).not.toEqual([]);
      const done = await runCli(['delete', '--project', 'gone', '--yes'], { env });
      expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('30 events deleted') });
      expect(await requests()).toEqual([]);
      expect((await service.stop()).code).toBe(0);
    },
  );
});

describe.skipIf(ON_SERVER)('the socket in the data directory', () => {
  test('works under a path that is longer than the address of a socket may be', async () => {
    const { env } = await fillStore('long'.repeat(40));
    const service = await startServe(env);
    const done = await runCli(['delete', '--project', 'gone', '--yes'], { env });
    expect(done).toMatchObject({ code: 0 });
    await service.stop();
  });

  test('a backup or a service that is killed leaves no snapshot behind', async () => {
    const { dataDir, env } = await fillStore();
    const service = await startServe(env);
    const shadow = join(dataDir, 'store/shadow');
    const snapshots = async () =>
      (await readdir(shadow).catch(() => [])).filter((name) => name.startsWith('tailrace')).length;
    const take = async (name: string) => {
      const backup = startCli(['backup', join(folder.path, name)], { env });
      await vi.waitFor(async () => expect(await snapshots()).toBe(1), { timeout: 60_000, interval: 2 });
      return backup;
    };
    const first = await take('killed-backup');
    first.child.kill('SIGKILL');
    await vi.waitFor(async () => expect(await snapshots()).toBe(0), 20_000);

    const second = await take('killed-service');
    await service.stop('SIGKILL');
    expect((await second.ended).code).not.toBe(null);
    const again = await startServe(env);
    expect(await snapshots()).toBe(0);
    await again.stop();
  });
});
