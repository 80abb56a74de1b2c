import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { startProgram } from '../support/cli.ts';
import { PRIVATE_KEY, startTestService, storeEvents, temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
const service = await startTestService();
afterAll(async () => {
  await service.close();
  await folder.remove();
});
const event = {
  project: 'aurora',
  event_message: 'GET /rest/v1/orders 200',
  metadata: { request: { path: '/rest/v1/orders' }, response: { status_code: 200 } },
};
await storeEvents(service.core, 'cloudflare.logs.prod', [event, event], service.clock.now);
const today = new Date(service.clock.now).toISOString().slice(0, 10);

const page = await readFile('docs/clients.md', 'utf8');

/** The code of a section in one language, with the address of this test's service. */
function codeOf(section: string, language: string): string[] {
  const [, text = ''] = new RegExp(`^## ${section}\n([\\s\\S]*?)(?=^## )`, 'm').exec(page) ?? [];
  const blocks = [...text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)\`\`\`$`, 'gm'))];
  return blocks.map(([, code = '']) => code.replaceAll('http://127.0.0.1:4000', service.url));
}

async function run(program: string, ...args: string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], TAILRACE_KEY: PRIVATE_KEY };
  return (await promisify(execFile)(program, args, { cwd: folder.path, env })).stdout;
}

const canImport = (...names: string[]) =>
  spawnSync('python3', ['-c', `import ${names.join(', ')}`]).status === 0;

// Node of this checkout first; none of its other programs.
const others = (process.env['PATH'] ?? '').split(delimiter).filter((one) => !one.includes('node_modules'));
const PATH = [dirname(process.execPath), ...others].join(delimiter);
// npm reaches its registry as this process does.
const CERTIFICATES = process.env['NODE_EXTRA_CA_CERTS'] ?? '';
const ENV = {
  ...{ PATH, HOME: homedir(), TAILRACE_KEY: PRIVATE_KEY },
  ...{ npm_config_prefer_offline: 'true', NODE_EXTRA_CA_CERTS: CERTIFICATES },
};
const INSTALL_MS_MAX = 300_000; // npm fetches what is not in its cache

/** Runs a line of shell as a reader of the page does. */
async function runLine(cwd: string, command: string) {
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

describe('the examples of docs/clients.md', () => {
  test('for curl print JSON twice, and write the CSV that DuckDB then reads', async () => {
    const commands = codeOf('curl', 'sh').flatMap((block) => block.trimEnd().split(/\n(?=curl )/));
    expect(commands).toHaveLength(3);
    const printed: string[] = [];
    for (const command of commands) printed.push(await run('sh', '-c', command));
    const rows = [{ timestamp: `${today}T00:00:00`, total_rest_requests: 2 }];
    expect(JSON.parse(printed[0] ?? '').result).toMatchObject(rows);
    expect(printed[1]).toBe('');
    expect(printed[2]).toBe(printed[0]);

    const [ofFile = ''] = codeOf('DuckDB', 'sql');
    const instance = await DuckDBInstance.create();
    const connection = await instance.connect();
    const sum = await connection.runAndReadAll(ofFile.replace('counts.csv', join(folder.path, 'counts.csv')));
    expect(sum.getRowsJson()).toEqual([['2']]);
    connection.closeSync();
    instance.closeSync();
  });

  test.skipIf(!canImport('requests'))('for Python prints the rows', async () => {
    const [program = ''] = codeOf('Python', 'python');
    expect(await run('python3', '-c', program)).toBe(`${today}T00:00:00 2\n`);
  });

  test.skipIf(!canImport('requests', 'pandas', 'pyarrow'))('for pandas prints sums', async () => {
    const [program = ''] = codeOf('pandas', 'python');
    expect(await run('python3', '-c', program)).toMatch(/total_rest_requests\s+2/);
  });

  test('for TypeScript install, compile and run in an empty folder', {
    tags: 'slow',
    timeout: INSTALL_MS_MAX,
  }, async () => {
    const cwd = join(folder.path, 'typescript');
    await mkdir(cwd);
    const [setup = ''] = codeOf('TypeScript', 'sh');
    const done = await runLine(cwd, setup);
    if (done.code !== 0) {
      expect(done.stderr).toMatch(NO_NETWORK); // any other failure is one of the page
      await linkPackages(cwd);
      const left = await runLine(cwd, setup.replace(/^npm install .*$/m, ''));
      expect(left).toMatchObject({ code: 0 });
    }
    const [client = ''] = codeOf('TypeScript', 'ts');
    await writeFile(join(cwd, 'client.ts'), client);
    const [, compile = ''] = /`(npx tsc .*? client\.ts)`/.exec(page) ?? [];
    expect(await runLine(cwd, compile)).toMatchObject({ code: 0, stdout: '' });
    const [, start = ''] = /`(node client\.ts)`/.exec(page) ?? [];
    expect(await runLine(cwd, start)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${today}T00:00:00 2\n`),
      stderr: '',
    });
  });
});

test('the data source for Grafana sends the key as the service takes it, to the address of the data source alone', async () => {
  const { apiVersion, datasources } = parse(await readFile('deploy/grafana/tailrace.yaml', 'utf8'));
  expect(apiVersion).toBe(1);
  const [{ type, url, jsonData, secureJsonData }] = datasources;
  expect(page).toContain(`\`${type}\``);
  expect(jsonData).toMatchObject({ auth_method: 'apiKey', apiKeyType: 'header', allowedHosts: [url] });
  expect(secureJsonData).toEqual({ apiKeyValue: expect.stringMatching(/^\$\{TAILRACE_KEY\}$/) });
  const [, path = ''] = /parser Backend, URL `(\S+)`/.exec(page) ?? [];
  const answer = await fetch(service.url + path, { headers: { [jsonData.apiKeyKey]: PRIVATE_KEY } });
  expect([answer.status, await answer.json()]).toEqual([200, { result: [expect.any(Object)] }]);
});
