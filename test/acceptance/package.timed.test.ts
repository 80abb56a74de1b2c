import { cp, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { endLeftProcesses, startProgram } from '../support/cli.ts';
import { temporaryFolder, writeFiles } from '../support/service.ts';

// Half a gigabyte of files, which npm has in its cache after the first time, and 300,000 sample events.
const TEST_MS_MAX = 600_000;

const ROOT = join(import.meta.dirname, '../..');
const folder = await temporaryFolder();
const project = join(folder.path, 'my-logs');
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
const start = (command: string, cwd = project) =>
  startProgram('/bin/sh', ['-c', command], { cwd, env, stdin: '' });

const page = await readFile('docs/quickstart.md', 'utf8');
const commands = [...page.matchAll(/^```sh\n([\s\S]*?)```$/gm)].flatMap(([, block = '']) =>
  block.trimEnd().split('\n'),
);
/** The files that the page shows, each after its path. */
const files = [...page.matchAll(/^`(endpoints\/[^`]+)`\n\n```\w+\n([\s\S]*?)```$/gm)];

test('the commands of docs/quickstart.md lead from a clone to an answer of an endpoint of one’s own', {
  timeout: TEST_MS_MAX,
}, async () => {
  expect([commands.length, files.length]).toEqual([7, 3]);
  const [cd = '', init = '', cdProject = '', dev = '', exportKey = '', send = '', call = ''] = commands;
  expect([cd, cdProject]).toEqual(['cd tailrace', 'cd ../my-logs']);
  const made = await start(init, await makeCheckout(folder.path)).ended;
  expect([made.code, made.stderr]).toEqual([0, expect.not.stringContaining('ERR')]);

  const running = start(`exec ${dev}`);
  const [, url = ''] = await running.waitFor(/ready at (http:\S+)\n/, TEST_MS_MAX);
  const [, key = ''] = await running.waitFor(/^\s*(dev_\S+)$/m, TEST_MS_MAX);
  const run = async (command: string) => {
    const filledIn = `${exportKey.replace('dev_…', key)}\n${command.replace('http://127.0.0.1:4000', url)}`;
    return (await start(filledIn).ended).stdout;
  };
  expect(JSON.parse(await run(send))).toEqual({ message: 'Logged!' });
  await writeFiles(project, Object.fromEntries(files.map(([, path = '', text = '']) => [path, text])));
  await running.waitFor(/✓ counts the errors of the last hour\n1 test passed\n/);
  await expect.poll(() => run(call)).toContain('"result":[{"service":"pay","errors":1}]');

  const tested = await start('npx tailrace test').ended;
  expect([tested.code, tested.stderr]).toEqual([0, expect.not.stringContaining('tailrace: ')]);
  const help = await start('npx tailrace --help').ended;
  expect(help.stdout).toContain('see node_modules/tailrace/docs/settings.md.');
  expect((await start('test -f node_modules/tailrace/docs/settings.md').ended).code).toBe(0);
  expect((await start('npx tailrace stop').ended).code).toBe(0);
  await running.ended; // npx and the service behind it
});

/** Makes a checkout in which packing disturbs no other test: what .dockerignore lets through, and the scripts. */
async function makeCheckout(folder: string): Promise<string> {
  const checkout = join(folder, 'tailrace');
  await copyContext(checkout);
  await cp(join(ROOT, 'scripts'), join(checkout, 'scripts'), { recursive: true });
  await linkPackages(checkout);
  return checkout;
}

/** Copies what .dockerignore lets through, by its lines with `!`. */
async function copyContext(to: string): Promise<void> {
  const lines = (await readFile(join(ROOT, '.dockerignore'), 'utf8')).split('\n');
  for (const line of lines.filter((one) => one.startsWith('!'))) {
    const name = line.slice(1);
    await mkdir(dirname(join(to, name)), { recursive: true });
    const isBuilt = (path: string) => path.startsWith(join(ROOT, 'console/dist'));
    await cp(join(ROOT, name), join(to, name), { recursive: true, filter: (path) => !isBuilt(path) });
  }
}

/** The packages of this checkout, each linked by itself: packing writes into the folder. */
async function linkPackages(checkout: string): Promise<void> {
  const [from, to] = [join(ROOT, 'node_modules'), join(checkout, 'node_modules')];
  await mkdir(to);
  for (const name of await readdir(from)) {
    if (name === '.bin')
      await cp(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
    else await symlink(join(from, name), join(to, name));
  }
}
