import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { endLeftProcesses, expectExit, runCli, startServe } from '../support/cli.ts';
import { ownFolder } from '../support/service.ts';

const exec = promisify(execFile);
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
