import { execFile, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
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

async function run(program: string, ...args: string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], TAILRACE_KEY: PRIVATE_KEY };
  return (await promisify(execFile)(program, args, { cwd: folder.path, env })).stdout;
}

const canImport = (...names: string[]) =>
  spawnSync('python3', ['-c', `import ${names.join(', ')}`]).status === 0;

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
