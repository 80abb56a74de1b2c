import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { addEndpoint } from '../../trial/endpoint.ts';
import { copyEndpoints } from '../support/endpoints.ts';
import { ownService } from '../support/service.ts';

const endpoints = await copyEndpoints();
const ids = ['a', 'b', 'c'].map((one) => `${one}0000000-0000-4000-8000-000000000001`);
const add = (i: number, name: string, sql: string) =>
  addEndpoint(endpoints, { name, id: ids[i] ?? '', sql, caching: 900 });
await add(0, 'test.edge', 'SELECT toInt64(count()) AS n FROM edge_logs WHERE project = @project');
await add(1, 'test.none', 'SELECT toInt64(length(@project)) AS n');
// What this one reads depends on more than the names in it.
const hasExtra = "hasColumnInTable(currentDatabase(), 'auth_logs', 'extra')";
await add(2, 'test.uncertain', `SELECT toInt64(${hasExtra}) AS n WHERE @project != ''`);
const service = await ownService({ env: { TAILRACE_ENDPOINTS_DIR: endpoints } });
const { call, core, config } = service;

const ALL = ['functions.invocation-stats', 'usage.api-counts', 'test.edge', 'test.none', 'test.uncertain'];
const ask = (name: string) => call(name, { project: 'p1', interval: 'daily' });

/** Changes a file, reloads, and names the endpoints whose kept answers are not served any more. */
async function lostBy(file: string, edit: (text: string) => string): Promise<string[]> {
  await writeFile(file, edit(await readFile(file, 'utf8').catch(() => '')));
  await core.reload();
  const answers = await Promise.all(ALL.map(ask));
  return ALL.filter((_, i) => answers[i]?.headers.get('cache-status')?.startsWith('Tailrace; hit') !== true);
}
const source = (name: string) => join(config.sourcesDir, `${name}.yaml`);

beforeEach(async () => {
  for (const name of ALL) expect((await ask(name)).status).toBe(200);
});

const retain = (days: number) => (text: string) =>
  text.replace(/retention_days: \d+/, `retention_days: ${days}`);

const EXTRA = '  extra: { type: string, path: metadata.extra, description: Of a test. }\n';
const OF_REQUESTS = ['usage.api-counts', 'test.edge', 'test.uncertain'];
const EDGE_SQL = join(endpoints, 'test.edge', 'query.sql');

test.each<[string, string, (text: string) => string, string[]]>([
  ['a source that nobody reads', source('postgres.logs'), retain(30), ['test.uncertain']],
  ['a column of a source', source('gotrue.logs.prod'), (text) => text + EXTRA, ['test.uncertain']],
  ['the source of requests', source('cloudflare.logs.prod'), retain(1), OF_REQUESTS],
  ['the SQL of an endpoint', EDGE_SQL, (text) => `${text} -- changed`, ['test.edge']],
])(
  'a reload empties the answers of the endpoints that read what has changed, and no others: %s',
  async (_, file, edit, lost) => {
    expect(await lostBy(file, edit)).toEqual(lost);
  },
);
