import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { endLeftProcesses, startProgram } from '../support/cli.ts';
import { PRIVATE_KEY, startTestService, storeEvents, temporaryFolder } from '../support/service.ts';

vi.setConfig({ testTimeout: 300_000 }); // npm fetches what is not in its cache

const folder = await temporaryFolder();
const service = await startTestService();
afterAll(async () => {
  await endLeftProcesses();
  await service.close();
  await folder.remove();
});
const event = {
  project: 'aurora',
  event_message: 'GET /rest/v1/orders 200',
  metadata: { request: { path: '/rest/v1/orders' }, response: { status_code: 200 } },
};
await storeEvents(service.store, 'cloudflare.logs.prod', [event, event], service.clock.now);
const today = new Date(service.clock.now).toISOString().slice(0, 10);
const page = await readFile('docs/clients.md', 'utf8');

/** The only block of a section in one language, with the address of this test's service. */
function blockOf(section: string, language: string): string {
  const [, text = ''] = new RegExp(`^## ${section}\n([\\s\\S]*?)(?=^## )`, 'm').exec(page) ?? [];
  const blocks = [...text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))];
  expect(blocks).toHaveLength(1);
  return (blocks[0]?.[1] ?? '').replaceAll('http://127.0.0.1:4000', service.url);
}

// Node of this checkout first; none of its other programs.
const others = (process.env['PATH'] ?? '').split(delimiter).filter((one) => !one.includes('node_modules'));
const PATH = [dirname(process.execPath), ...others].join(delimiter);
const ENV = { PATH, HOME: homedir(), TAILRACE_KEY: PRIVATE_KEY, npm_config_prefer_offline: 'true' };

async function run(cwd: string, command: string) {
  return await startProgram('/bin/sh', ['-ec', command], { cwd, env: ENV, stdin: '' }).ended;
}

const NO_NETWORK = /ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ENETUNREACH/;

/** Instead of `npm install` without a network: the packages of this checkout. */
async function linkPackages(cwd: string): Promise<void> {
  for (const from of ['test/clients/node_modules', 'node_modules'])
    for (const name of await readdir(from)) {
      const to = join(cwd, 'node_modules', name);
      await mkdir(dirname(to), { recursive: true });
      if (!existsSync(to)) await symlink(join(process.cwd(), from, name), to);
    }
}

describe('docs/clients.md, in an empty folder', () => {
  test('has a client of TypeScript that installs, compiles and runs', async () => {
    const cwd = join(folder.path, 'typescript');
    await mkdir(cwd);
    const setup = blockOf('TypeScript', 'sh');
    const done = await run(cwd, setup);
    if (done.code !== 0) {
      expect(done.stderr).toMatch(NO_NETWORK); // any other failure is one of the page
      await linkPackages(cwd);
      const left = await run(cwd, setup.replace(/^npm install .*$/m, ''));
      expect(left).toMatchObject({ code: 0 });
    }
    await writeFile(join(cwd, 'client.ts'), blockOf('TypeScript', 'ts'));
    const [, compile = ''] = /`(npx tsc .*? client\.ts)`/.exec(page) ?? [];
    expect(await run(cwd, compile)).toMatchObject({ code: 0, stdout: '' });
    const [, start = ''] = /`(node client\.ts)`/.exec(page) ?? [];
    expect(await run(cwd, start)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${today}T00:00:00 2\n`),
      stderr: '',
    });
  });

  const python = (...names: string[]) =>
    spawnSync('python3', ['-c', `import ${names.join(', ')}`]).status === 0;

  test.skipIf(!python('requests'))('has a program of Python that runs', async () => {
    const cwd = join(folder.path, 'python');
    await mkdir(cwd);
    await writeFile(join(cwd, 'client.py'), blockOf('Python', 'python'));
    const done = await run(cwd, 'python3 client.py');
    expect(done).toMatchObject({ code: 0, stdout: `${today}T00:00:00 2\n` });
  });

  test.skipIf(!python('requests', 'pandas', 'pyarrow'))('has a program of pandas that runs', async () => {
    const cwd = join(folder.path, 'pandas');
    await mkdir(cwd);
    await writeFile(join(cwd, 'client.py'), blockOf('pandas', 'python'));
    const done = await run(cwd, 'python3 client.py');
    expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/total_rest_requests\s+2/) });
  });
});
