import { execFile, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { get } from '../support/http.ts';
import { ownFolder, ownService, PRIVATE_KEY, storeEvents } from '../support/service.ts';

const folder = await ownFolder();
const service = await ownService();
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

async function run(program: string, args: readonly string[], cwd = folder.path): Promise<string> {
  const env = { PATH: process.env['PATH'], TAILRACE_KEY: PRIVATE_KEY };
  return (await promisify(execFile)(program, args, { cwd, env })).stdout;
}

const canImport = (...names: string[]) =>
  spawnSync('python3', ['-c', `import ${names.join(', ')}`]).status === 0;

describe('the examples of docs/clients.md', () => {
  test('for curl print JSON twice, and write the CSV that DuckDB then reads', async () => {
    const commands = codeOf('curl', 'sh').flatMap((block) => block.trimEnd().split(/\n(?=curl )/));
    expect(commands).toHaveLength(3);
    const printed: string[] = [];
    for (const command of commands) printed.push(await run('sh', ['-c', command]));
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
    expect(await run('python3', ['-c', program])).toBe(`${today}T00:00:00 2\n`);
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

const [, PAGE = ''] = /^```ts\n([\s\S]*?)```$/m.exec(page) ?? [];

const [, COMMAND = ''] = /`npx tsc (.*?) client\.ts`/.exec(page) ?? [];

async function generateTypes(): Promise<string> {
  const { text } = await get(service.url, '/openapi.json');
  return astToString(await openapiTS(JSON.parse(text) as OpenAPI3));
}

/** The codes of the errors of the program, which imports the generated types; both exist only in memory. */
function compile(types: string): number[] {
  const options: ts.CompilerOptions = {
    ...ts.parseCommandLine(COMMAND.split(' ')).options,
    noUncheckedIndexedAccess: true, // as `tsc --init` sets it
    skipLibCheck: true,
  };
  const path = join(import.meta.dirname, 'program.ts');
  const files = new Map([
    [path, PAGE],
    [join(import.meta.dirname, 'tailrace.ts'), types],
  ]);
  const host = ts.createCompilerHost(options);
  host.fileExists = (name) => files.has(name) || ts.sys.fileExists(name);
  host.readFile = (name) => files.get(name) ?? ts.sys.readFile(name);
  const program = ts.createProgram([...files.keys()], options, host);
  return ts.getPreEmitDiagnostics(program, program.getSourceFile(path)).map(({ code }) => code);
}

describe('a client of TypeScript, generated from /openapi.json', () => {
  test('compiles as docs/clients.md has it', async () => expect(compile(await generateTypes())).toEqual([]));

  test('gets what its types say', async () => {
    const program = PAGE.replace('http://127.0.0.1:4000', service.url);
    const args = ['--input-type=module-typescript', '-e', program];
    const printed = await run(process.execPath, args, import.meta.dirname); // which has the packages
    expect(printed.trimEnd().split('\n').at(-1)).toMatch(/^\d{4}-\d\d-\d\dT00:00:00 2$/);
  });
});
