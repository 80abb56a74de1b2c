import { cp, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { endLeftProcesses, startProgram } from '../support/cli.ts';
import { ON_SERVER } from '../support/cli-engine.ts';
import { get, QUERY_PATH } from '../support/http.ts';
import { makeTarball } from '../support/package.ts';
import { PRIVATE_KEY, temporaryFolder } from '../support/service.ts';

// Packing and installing: half a gigabyte of files, which npm has in its cache after the first time.
const INSTALL_MS_MAX = 300_000;

const folder = await temporaryFolder();
const project = join(folder.path, 'project');
afterEach(endLeftProcesses);
afterAll(folder.remove, 60_000);

// Without the programs of this checkout, so that the Node of the machine is the one that starts it, also an old one.
const PATH = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((entry) => !entry.includes('node_modules'))
  .join(delimiter);

function start(command: string, ...args: string[]) {
  const env = { PATH, HOME: homedir(), TAILRACE_PORT: '0', TAILRACE_PRIVATE_KEY: PRIVATE_KEY };
  return startProgram(command, args, { cwd: project, env, stdin: '' });
}
const run = async (command: string, ...args: string[]) => await start(command, ...args).ended;

describe.skipIf(ON_SERVER)('the package, installed into an empty folder', () => {
  beforeAll(async () => {
    const tarball = await makeTarball(folder.path);
    await mkdir(project);
    const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
    const { code, stderr } = await run('npm', 'install', tarball, ...quiet);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('ERR')]);
  }, INSTALL_MS_MAX);

  test('names docs that are there', async () => {
    const { code, stdout } = await run('npx', 'tailrace', '--help');
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('see node_modules/tailrace/docs/settings.md.'),
    ]);
    expect((await run('test', '-f', 'node_modules/tailrace/docs/settings.md')).code).toBe(0);
  });

  test('checks and serves the definitions that ship with it, and says so; then those of the folder', async () => {
    const note =
      /there is no folder \.\/(endpoints|sources) here, so the \1 that ship with Tailrace are used: node_modules\/tailrace\/\1$/gm;
    const check = await run('npx', 'tailrace', 'check');
    expect([check.code, check.stdout]).toEqual([0, '4 endpoints, 12 sources and 3 dashboards, no faults\n']);
    expect(check.stderr.match(note)).toHaveLength(2);
    // A store with events is not filled with the sample of 300,000.
    expect((await run('npx', 'tailrace', 'sample', '--rows', '2000')).code).toBe(0);

    const service = start('npx', 'tailrace', 'serve', '--sample');
    const [, url = ''] = await service.waitFor(/ready at (http:\S+)\n[\s\S]*\n\n$/);
    expect(service.output().stdout.match(note)).toHaveLength(2);
    // The log has a pipe of its own: it may be behind what is printed.
    await vi.waitFor(() => expect(service.output().stderr).toContain('that ship with Tailrace'), 10_000);
    const answer = await get(url, `${QUERY_PATH}/usage.api-counts?project=aurora&interval=daily`);
    expect([answer.status, answer.body.result.length > 0]).toEqual([200, true]);

    await mkdir(join(project, 'endpoints'));
    await cp('endpoints/logs.all', join(project, 'endpoints/logs.all'), { recursive: true });
    const reload = await run('npx', 'tailrace', 'reload');
    expect(reload.stdout).toMatch(/^definitions reloaded: 1 endpoint and 12 sources served/);
    expect((await run('npx', 'tailrace', 'stop')).code).toBe(0);
    await service.ended;
  }, 120_000);

  test('refuses a folder that was named and is not there', async () => {
    const { code, stderr } = await startProgram('npx', ['tailrace', 'check'], {
      cwd: project,
      env: { PATH, HOME: homedir(), TAILRACE_SOURCES_DIR: './sources' },
      stdin: '',
    }).ended;
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^tailrace: \.\/sources:1: cannot be read as a folder/m),
    ]);
  });
});
