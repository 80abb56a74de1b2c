import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { findOwner } from '../../src/engine/store-file.ts';
import { endLeftProcesses, expectExit, runCli, startProgram, startServe } from '../support/cli.ts';
import { getEngineProcess, untilGone } from '../support/engine-process.ts';
import { get, QUERY_PATH } from '../support/http.ts';
import { ownFolder, PRIVATE_KEY } from '../support/service.ts';

const exec = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const folder = await ownFolder();
const env = { TAILRACE_DATA_DIR: join(folder.path, 'data'), TAILRACE_PORT: '0' };
afterEach(endLeftProcesses);

test('a data directory that another service holds ends the second with 3, and that one goes on', async () => {
  const service = await startServe(env);
  const { code, stderr } = await runCli(['serve'], { env });
  expect([code, stderr]).toEqual([3, expect.stringContaining(`tailrace serve (pid ${service.child.pid})`)]);
  expect((await service.stop()).code).toBe(0);
});

// Each ends the start at another file.
test.for(['4k', '64k', '192k'])(
  'a disk of %s ends the start with 3; with more room it starts',
  async (size, context) => {
    const disk = join(folder.path, `disk-${size}`);
    await mkdir(disk);
    const mount = (options: string) => exec('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', disk]);
    const isMounted = await mount(`size=${size}`).then(
      () => true,
      () => false,
    );
    if (!isMounted) context.skip('a small file system cannot be mounted here: that takes root');
    onTestFinished(async () => {
      await endLeftProcesses();
      await exec('umount', [disk]);
      await rm(disk, { recursive: true });
    });
    const onDisk = { ...env, TAILRACE_DATA_DIR: join(disk, 'data') };
    const full = await runCli(['serve'], { env: onDisk });
    expectExit(full, 3, 'the disk is full; make room');
    await mount('remount,size=64m');
    const service = await startServe(onDisk);
    expect((await service.stop()).code).toBe(0);
  },
);

test('a service that an old Node has started ends in order when that gets a signal', async () => {
  const [cli, bundled] = [join(root, 'bin/tailrace.js'), pathToFileURL(join(root, 'bin/bundled-node.js'))];
  // As bin/tailrace.js does it there.
  const rerun = `import { rerunOn } from '${bundled}'; process.argv[1] = '${cli}'; rerunOn('${process.execPath}');`;
  await writeFile(join(folder.path, 'old.mjs'), rerun);
  const started = startProgram('node', ['old.mjs', 'serve'], {
    cwd: folder.path,
    env: { ...env, HOME: folder.path },
    stdin: '',
  });
  await started.waitFor(/ready at/);
  started.child.kill('SIGTERM');
  expect(await started.ended).toMatchObject({ code: 0, stderr: expect.stringContaining('"msg":"stopping"') });
  expect(findOwner(env.TAILRACE_DATA_DIR)).toBeUndefined();
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  'the engine process survives a %s that a terminal sends to both, until the service has closed it',
  async (signal) => {
    const service = await startServe({ ...env, TAILRACE_PRIVATE_KEY: PRIVATE_KEY });
    const engine = getEngineProcess(service.child.pid);
    process.kill(engine, signal);
    expect((await get(service.url, `${QUERY_PATH}/logs.all?project=p`)).status).toBe(200);
    const { code, stderr } = await service.stop(signal);
    expect(code).toBe(0);
    expect(stderr).not.toContain('the engine process ended');
    await untilGone(engine);
  },
);
