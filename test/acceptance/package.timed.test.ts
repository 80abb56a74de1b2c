import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endLeftProcesses, startProgram } from '../support/cli.ts';
import { ON_SERVER } from '../support/cli-engine.ts';
import { makeTarball } from '../support/package.ts';
import { temporaryFolder } from '../support/service.ts';

// Half a gigabyte of files, which npm has in its cache after the first time, and 300,000 sample events.
const TEST_MS_MAX = 600_000;

const folder = await temporaryFolder();
const project = join(folder.path, 'project');
afterAll(async () => {
  await endLeftProcesses();
  await folder.remove();
}, 60_000);

// Without the programs of this checkout, so that the Node of the machine is the one that starts it, also an old one.
const PATH = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((entry) => !entry.includes('node_modules'))
  .join(delimiter);
const env = { PATH, HOME: homedir(), TAILRACE_PORT: '0' };
const start = (command: string) => startProgram('/bin/sh', ['-c', command], { cwd: project, env, stdin: '' });

const page = await readFile('docs/quickstart.md', 'utf8');
const commands = [...page.matchAll(/^```sh\n([\s\S]*?)```$/gm)].flatMap(([, block = '']) =>
  block.trimEnd().split('\n'),
);
/** The files that the page shows, each after its path. */
const files = [...page.matchAll(/^`(endpoints\/[^`]+)`\n\n```\w+\n([\s\S]*?)```$/gm)];

describe.skipIf(ON_SERVER)('the commands of docs/quickstart.md', () => {
  beforeAll(async () => {
    const tarball = await makeTarball(folder.path);
    await mkdir(project);
    await copyFile(tarball, join(project, basename(tarball)));
  }, TEST_MS_MAX);

  test('lead from the package to an answer of an endpoint of one’s own', {
    timeout: TEST_MS_MAX,
  }, async () => {
    expect([commands.length, files.length]).toEqual([8, 3]);
    const [install = '', init = '', dev = '', exportKey = '', ...calls] = commands;
    for (const command of [install, init]) {
      const { code, stderr } = await start(command).ended;
      expect([command, code, stderr]).toEqual([command, 0, expect.not.stringContaining('ERR')]);
    }

    const running = start(`exec ${dev}`);
    const [, url = ''] = await running.waitFor(/ready at (http:\S+)\n/, TEST_MS_MAX);
    const [, key = ''] = await running.waitFor(/^\s*(dev_\S+)$/m, TEST_MS_MAX);
    const run = async (command: string) => {
      const filledIn = `${exportKey.replace('dev_…', key)}\n${command.replace('http://127.0.0.1:4000', url)}`;
      return (await start(filledIn).ended).stdout;
    };
    const [send = '', search = '', test = '', call = ''] = calls;
    expect(JSON.parse(await run(send))).toEqual({ message: 'Logged!' });
    expect(JSON.parse(await run(search)).result).toMatchObject([{ event_message: 'card declined' }]);
    for (const [, path = '', text = ''] of files) {
      await mkdir(join(project, dirname(path)), { recursive: true });
      await writeFile(join(project, path), text);
    }
    expect(await run(test)).toContain('1 test passed');
    await expect.poll(() => run(call)).toContain('"result":[{"service":"pay","errors":1}]');

    const tested = await start('npx tailrace test').ended;
    expect([tested.code, tested.stderr]).toEqual([0, expect.not.stringContaining('tailrace: ')]);
    const help = await start('npx tailrace --help').ended;
    expect(help.stdout).toContain('see node_modules/tailrace/docs/settings.md.');
    expect((await start('test -f node_modules/tailrace/docs/settings.md').ended).code).toBe(0);
    expect((await start('npx tailrace stop').ended).code).toBe(0);
    await running.ended; // npx and the service behind it
  });
});
