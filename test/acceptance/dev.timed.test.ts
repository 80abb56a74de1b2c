import { cp, mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { addEndpoint } from '../../trial/endpoint.ts';
import { endLeftProcesses, startCli } from '../support/cli.ts';
import { get, request } from '../support/http.ts';
import { temporaryFolder } from '../support/service.ts';

afterEach(endLeftProcesses);

const ENDPOINT = {
  name: 'counts.all',
  id: 'a0000000-0000-4000-8000-000000000041',
  caching: 'disabled',
} as const;
const sqlOf = (n: number) =>
  `SELECT toInt64(${n} + 0 * count()) AS n FROM edge_logs WHERE project = @project`;

test('tailrace dev serves the folder on sample logs of its own, and tests what changes', async () => {
  const folder = await temporaryFolder();
  onTestFinished(folder.remove);
  await mkdir(join(folder.path, 'endpoints'));
  await cp('sources', join(folder.path, 'sources'), { recursive: true });
  await addEndpoint(join(folder.path, 'endpoints'), { ...ENDPOINT, sql: sqlOf(1) });
  const own = join(folder.path, 'endpoints', ENDPOINT.name);
  await mkdir(join(own, 'tests'));
  const start = () => startCli(['dev'], { cwd: folder.path, env: { TAILRACE_PORT: '0' } });

  const first = start();
  await first.waitFor(/ready at http:\S+\n[\s\S]*\n\n$/);
  const [, key = '', url = ''] = await first.waitFor(/^curl -s -H "X-API-KEY: (\S+)" "(\S+)"$/m);
  const { status, body } = await get(url, '', { 'x-api-key': key });
  expect([status, body.result]).toEqual([200, [{ n: 1 }]]);

  // Another endpoint's tests are not run.
  await addEndpoint(join(folder.path, 'endpoints'), { ...ENDPOINT, name: 'other', id: OTHER, sql: sqlOf(0) });
  await first.waitFor(/^tailrace: definitions reloaded: 2 endpoints and /m);
  const expecting = (n: number) =>
    writeFile(
      join(own, 'tests', 'n.yaml'),
      `now: 2026-11-20T12:00:00Z\ncases:\n  - { parameters: { project: p1 }, rows: [{ n: ${n} }] }\n`,
    );
  await expecting(1);
  await first.waitFor(/✓ project=p1\n1 test passed\n/);
  // The workbench may save, and runs the tests, as the change of the file does.
  const { origin } = new URL(url);
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const { text } = await get(origin, `/api/workbench/endpoints/${ENDPOINT.name}`, headers);
  const { may_edit: mayEdit, ...files } = JSON.parse(text) as { may_edit: boolean };
  expect(mayEdit).toBe(true);
  const save = { method: 'POST', headers, body: JSON.stringify({ ...files, sql: sqlOf(2) }) };
  const saved = await request(origin, '/api/workbench/save', save);
  expect(saved.body).toMatchObject({ tests: [{ name: 'project=p1', passed: false }] });
  await first.waitFor(
    /✗ project=p1[\s\S]*- {3}- \{ n: 1 \}\n.*\+ {3}- \{ n: 2 \}\n[\s\S]*1 of 1 test failed\n/,
  );
  expect((await get(url, '', { 'x-api-key': key })).body.result).toEqual([{ n: 2 }]);
  await writeFile(join(own, 'tests', 'n.yaml'), 'now: x\n');
  await first.waitFor(/n\.yaml:1: "cases" is missing/);
  await writeFile(join(own, 'query.sql'), 'SELECT nothing');
  await first.waitFor(/^tailrace: \S+query\.sql:1: .*nothing/m);
  first.child.kill('SIGINT');
  expect((await first.ended).code).toBe(0);
  expect(await readFile(join(folder.path, '.tailrace/.gitignore'), 'utf8')).toBe('*\n');

  // The store and the key are kept.
  expect(first.output().stderr).not.toContain('old; delete it');
  const twoDaysAgo = new Date(Date.now() - 49 * 3_600_000);
  await utimes(join(folder.path, '.tailrace/.gitignore'), twoDaysAgo, twoDaysAgo);
  await writeFile(join(own, 'query.sql'), sqlOf(2));
  const second = start();
  await second.waitFor(/ready at/);
  expect(second.output().stdout).toContain(key);
  expect(second.output().stderr).not.toContain('sample: storing');
  expect(second.output().stderr).toContain('the events in .tailrace are 2 days old; delete it');
  second.child.kill('SIGTERM');
  expect((await second.ended).code).toBe(0);
});

const OTHER = 'a0000000-0000-4000-8000-000000000042';
