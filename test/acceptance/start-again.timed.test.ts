import { execFile } from 'node:child_process';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { endLeftProcesses, runCli, startServe } from '../support/cli.ts';
import { ON_SERVER } from '../support/cli-engine.ts';
import { temporaryFolder } from '../support/service.ts';

const exec = promisify(execFile);
const folder = await temporaryFolder();
const env = { TAILRACE_DATA_DIR: join(folder.path, 'data'), TAILRACE_PORT: '0' };
afterEach(endLeftProcesses);
afterAll(folder.remove);

/** Its messages, without the log. */
const messagesOf = (stderr: string) =>
  stderr
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith('{'));

async function serve(settings: Readonly<Record<string, string>>, args: readonly string[] = []) {
  const { code, stderr } = await runCli(['serve', ...args], { env: { ...env, ...settings } });
  return { code, messages: messagesOf(stderr) };
}

describe('a data directory that has to be changed ends the service with 1 and one line', () => {
  const cannot = (dataDir: string, why: string) => ({
    code: 1,
    messages: [
      `tailrace: data directory ${dataDir} cannot be used: ${why}; set TAILRACE_DATA_DIR to a writable folder`,
    ],
  });

  test.skipIf(ON_SERVER)('a link to nothing, or below one, and links in a circle', async () => {
    const link = join(folder.path, 'link');
    await symlink(join(folder.path, 'nowhere'), link);
    for (const dataDir of [link, join(link, 'below')])
      expect(await serve({ TAILRACE_DATA_DIR: dataDir })).toEqual(
        cannot(dataDir, `${link} is a symbolic link to nothing`),
      );
    const circle = join(folder.path, 'circle');
    await symlink(circle, circle);
    expect(await serve({ TAILRACE_DATA_DIR: circle })).toEqual(
      cannot(circle, 'its symbolic links lead in a circle'),
    );
  });

  // Node's own recursive mkdir never returns there.
  describe.skipIf(process.platform !== 'linux')('where the system denies that a name can exist', () => {
    test.skipIf(ON_SERVER)('for the service', async () => {
      for (const dataDir of ['/proc/x', '/proc/x/below'])
        expect(await serve({ TAILRACE_DATA_DIR: dataDir })).toEqual(
          cannot(dataDir, 'no folder can be created there'),
        );
    });

    test.each([
      ['keys list', { TAILRACE_DATA_DIR: '/proc/x' }],
      ['init /proc/x', {}],
    ])('for %s', async (line, settings) => {
      const { code, stderr } = await runCli(line.split(' '), { env: { ...env, ...settings } });
      expect([code, messagesOf(stderr)]).toEqual([
        1,
        [expect.stringContaining('no folder can be created there')],
      ]);
    });

    test('for compiled code, which the command then does without', async () => {
      for (const place of ['HOME', 'XDG_CACHE_HOME']) {
        const home = { HOME: folder.path, [place]: '/proc/x', NODE_COMPILE_CACHE: '' };
        expect(await runCli(['--version'], { env: home })).toMatchObject({ code: 0, stderr: '' });
      }
    });
  });
});

describe('what may pass ends the service with 3 and one line', () => {
  test.skipIf(ON_SERVER)('a data directory that another service holds', async () => {
    const service = await startServe(env);
    const { code, messages } = await serve({});
    expect([code, messages]).toEqual([
      3,
      [expect.stringContaining(`tailrace serve (pid ${service.child.pid})`)],
    ]);
    // A command is to be run otherwise: by --url.
    const query = await runCli(['query', 'logs.all', '-p', 'project=p1'], { env });
    expect(query).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('send the command to it with --url'),
    });
    expect((await service.stop()).code).toBe(0);
  });

  test('a port in use, before a sample is stored', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const settings = { TAILRACE_DATA_DIR: join(folder.path, 'empty'), TAILRACE_PORT: String(port) };
    const result = await serve(settings, ['--sample']);
    other.close();
    expect(result).toEqual({
      code: 3,
      messages: [
        `tailrace: port ${port} of 127.0.0.1 is in use; stop the other process or set TAILRACE_PORT to another one`,
      ],
    });
  });

  test.each([
    [{ TAILRACE_HOST: '203.0.113.1' }, 'tailrace: 203.0.113.1 is not an address of this machine now'],
    [{ TAILRACE_HOST: 'no.such.invalid' }, 'tailrace: the address no.such.invalid is unknown now'],
    [{ TAILRACE_CONTROL_URL: 'postgres://me@127.0.0.1:1/keys' }, 'ECONNREFUSED 127.0.0.1:1'],
    [{ CLICKHOUSE_URL: 'http://127.0.0.1:1' }, 'ECONNREFUSED 127.0.0.1:1'],
  ])('%j', async (settings, message) => {
    const secret = { TAILRACE_TOKEN_SECRET: 'x'.repeat(44) };
    expect(await serve({ ...secret, ...settings })).toEqual({
      code: 3,
      messages: [expect.stringContaining(message)],
    });
  });

  // Each ends the start at another file.
  test.skipIf(ON_SERVER).for(['4k', '64k', '192k'])(
    'a disk of %s; with more room it starts',
    {
      timeout: 60_000,
    },
    async (size, context) => {
      const disk = join(folder.path, `disk-${size}`);
      await mkdir(disk);
      const mount = (options: string) => exec('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', disk]);
      const mounted = await mount(`size=${size}`).then(
        () => true,
        () => false,
      );
      if (!mounted) context.skip('a small file system cannot be mounted here: that takes root');
      onTestFinished(async () => {
        await endLeftProcesses();
        await exec('umount', [disk]);
        await rm(disk, { recursive: true });
      });
      const settings = { TAILRACE_DATA_DIR: join(disk, 'data') };
      const full = await serve(settings);
      expect([full.code, full.messages]).toEqual([
        3,
        [
          expect.stringMatching(
            /^tailrace: .* cannot be (?:used|read|opened): the disk is full; make room(?:, then start again)?$/,
          ),
        ],
      ]);
      await mount('remount,size=64m');
      const service = await startServe({ ...env, ...settings });
      expect((await service.stop()).code).toBe(0);
    },
  );

  test.skipIf(ON_SERVER)('but a disk that is read-only has to be changed', async (context) => {
    const disk = join(folder.path, 'read-only');
    await mkdir(disk);
    const mounted = await exec('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', disk]).then(
      () => true,
      () => false,
    );
    if (!mounted) context.skip('a file system cannot be mounted here: that takes root');
    onTestFinished(async () => void (await exec('umount', [disk])));
    const { code, messages } = await serve({ TAILRACE_DATA_DIR: join(disk, 'data') });
    expect([code, messages]).toEqual([1, [expect.stringContaining('EROFS: read-only file system')]]);
  });
});
