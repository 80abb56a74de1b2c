import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { copyFewDefinitions } from '../../support/definitions.ts';
import { runProgram } from '../../support/program.ts';
import { ownFolder, writeFiles } from '../../support/service.ts';

const folder = await ownFolder();

const endpoints = join(folder.path, 'endpoints');
const tests = join(endpoints, 'errors.by-path', 'tests');
const env = await copyFewDefinitions(folder.path);
const run = (...args: string[]) => runProgram(['test', ...args], env);
const write = (name: string, text: string) => writeFile(join(tests, name), text);

const YAML = `id: a0000000-0000-4000-8000-000000000031
name: errors.by-path
description: Of a test.
max_rows: 10
caching: disabled
parameters:
  project: { type: string, required: true, description: Of a test. }
  statuses: { type: list, of: integer, description: Of a test. }
columns:
  path: { type: string, description: Of a test. }
  seconds: { type: number, description: Of a test. }
  failures: { type: integer, description: Of a test. }
`;
const SQL = `SELECT assumeNotNull(path) AS path, count() / 3 AS seconds, toInt64(count()) AS failures FROM edge_logs
WHERE project = @project AND (empty(@statuses) OR status_code IN @statuses) AND timestamp > toDateTime64(@now, 6, 'UTC') - INTERVAL 1 HOUR
GROUP BY path ORDER BY path`;

/** Events of one project, a minute apart. */
function events(...paths: string[]): string {
  const lines = paths.map((path, i) => {
    const metadata = `{ request: { path: ${path} }, response: { status_code: ${500 + i} } }`;
    return `    - { timestamp: 2026-11-20T11:0${i + 1}:00Z, project: p1, metadata: ${metadata} }`;
  });
  return lines.join('\n');
}
const HEAD = `now: 2026-11-20T12:00:00Z\nevents:\n  cloudflare.logs.prod:\n`;

beforeEach(async () => {
  await rm(endpoints, { recursive: true, force: true });
  await mkdir(tests, { recursive: true });
  await writeFiles(join(endpoints, 'errors.by-path'), { 'endpoint.yaml': YAML, 'query.sql': SQL });
});

describe('tailrace test', () => {
  test('passes the tests of every endpoint for Studio', async () => {
    const { code, stdout } = await runProgram(['test'], { TAILRACE_STUDIO: '1' });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\n\d+ tests passed\n$/)]);
    for (const name of await readdir('studio/endpoints'))
      expect(stdout).toContain(`studio/endpoints/${name}/tests/`);
  });

  test('passes the test of the endpoint that docs/your-own-log.md shows, with the output that it shows', async () => {
    const page = await readFile('docs/your-own-log.md', 'utf8');
    const names = ['endpoint.yaml', 'query.sql', 'tests/last-hour.yaml'];
    await rm(endpoints, { recursive: true });
    for (const name of ['sources/shop.yaml', ...names.map((name) => `endpoints/shop.routes/${name}`)]) {
      const [, block = ''] = new RegExp(`\`${name}\`.*?\`\`\`\\w+\n(.*?)\`\`\``, 's').exec(page) ?? [];
      await writeFiles(folder.path, { [name]: block });
    }
    const { code, stdout } = await run('shop.routes');
    const [, shown] = /\$ npx tailrace test shop\.routes\n(.*?)```/s.exec(page) ?? [];
    expect([code, stdout.replaceAll(`${folder.path}/`, '')]).toEqual([0, shown]);
  });

  test('asks page after page, with the pins of a key, which stay on the next page', async () => {
    const id = 'a0000000-0000-4000-8000-000000000032';
    const yaml = `id: ${id}
name: pages.of-paths
description: Of a test.
max_rows: 10
caching: disabled
parameters:
  project: { type: regex, required: true, description: Of a test. }
cursor: { by: [id desc], size: 2 }
columns:
  id: { type: string, description: Of a test. }
`;
    const sql = `SELECT id FROM edge_logs
WHERE match(project, @project) AND (@pinned_project = '' OR project = @pinned_project)
  AND (@cursor_id IS NULL OR id < @cursor_id)
ORDER BY id DESC LIMIT 2`;
    const stored = ['a1:p', 'a2:p', 'a3:p', 'b1:px'].map((one) => {
      const [id, project] = one.split(':');
      return `    - { id: ${id}, timestamp: 2026-11-20T11:00:00Z, project: ${project} }`;
    });
    const rowsOf = (...ids: string[]) => `rows: [${ids.map((id) => `{ id: ${id} }`).join(', ')}]`;
    const cases = [
      `parameters: { project: ^p }, ${rowsOf('b1', 'a3')}`,
      `cursor: next, ${rowsOf('a2', 'a1')}`,
      'cursor: next, rows: []',
      `pins: { project: p }, ${rowsOf('a3', 'a2')}`,
      `cursor: next, ${rowsOf('a1')}`,
      'pins: { project: p }, parameters: { project: px }, error: { code: forbidden, parameter: project }',
      `pins: { project: p }, ${rowsOf('a3', 'a2')}`,
      'cursor: next, pins: { project: px }, error: { code: invalid_parameter, parameter: cursor }',
      `name: wrong, pins: { project: p }, ${rowsOf('b1')}`,
      'name: wrong too, cursor: next, rows: []',
    ];
    const lines = cases.map((one) => `  - { ${one} }`);
    const testYaml = `${HEAD}${stored.join('\n')}\ncases:\n${lines.join('\n')}\n`;
    const files = { 'endpoint.yaml': yaml, 'query.sql': sql, 'tests/one.yaml': testYaml };
    await writeFiles(join(endpoints, 'pages.of-paths'), files);
    const { stdout } = await run('pages.of-paths');
    expect(stdout.match(/[✓✗]/g)?.join('')).toBe('✓✓✓✓✓✓✓✓✗✗');
    expect(stdout).toContain('✓ project=^p, next page');
  });

  test('shows what differs, runs each file on its own events, and exits with 1', async () => {
    const rows = (n: number) =>
      `cases:\n  - parameters: { project: p1 }\n    rows: [{ path: /a, seconds: 0, failures: ${n} }]\n`;
    await write('first.yaml', `${HEAD}${events('/a', '/a')}\n${rows(3)}`);
    await write('second.yaml', `${HEAD}${events('/b')}\n${rows(1)}`);
    const { code, stdout, stderr } = await run();
    expect([code, stderr]).toEqual([1, 'tailrace: 2 of 2 tests failed\n']);
    expect(stdout).toContain(`✗ project=p1  (${join(tests, 'first.yaml')}:7)`);
    expect(stdout).toContain('-   - { path: /a, seconds: 0, failures: 3 }\n');
    expect(stdout).toMatch(/\+ {3}- \{ path: \/a, seconds: 0\.66\d+, failures: 2 \}/);
    expect(stdout).toMatch(/\+ {3}- \{ path: \/b, seconds: 0\.33\d+, failures: 1 \}/);
    expect(stdout.match(/^ +\+ {3}- /gm)).toHaveLength(2);
  });
});

test('tailrace test rejects, with file and line, each fault of every test file at once', async () => {
  const CASE = 'cases:\n  - { parameters: { project: p1 }, rows: [] }\n';
  const AT = 'now: 2026-11-20T12:00:00Z\n';
  const withEvents = (text: string) => `${AT}events:\n  cloudflare.logs.prod:${text}\n${CASE}`;
  const withCase = (text: string) => `${AT}cases:\n  - ${text}\n`;

  /** The name of a file → its text → line and message. */
  const FAULTS: readonly [string, string, string][] = [
    ['no-now', CASE, '1: "now" is missing'],
    [
      'no-source',
      `${AT}events:\n  cloudflare: []\n${CASE}`,
      '3: no source is called "cloudflare"; there are cloudflare.logs.prod',
    ],
    [
      'file-outside',
      withEvents(' { file: ../../query.sql }'),
      '3: file "../../query.sql" must be in the folder of the test',
    ],
    [
      'file-link',
      withEvents(' { file: link/query.sql }'),
      '3: file "link/query.sql" must be in the folder of the test, and not a link that leads out',
    ],
    ['neither', withCase('{ name: x }'), '3: "rows" or "error" is missing'],
    [
      'parameter',
      withCase('{ parameters: { projct: p1 }, rows: [] }'),
      '3: errors.by-path has no parameter "projct"; it has project, statuses',
    ],
  ];
  for (const [name, text] of FAULTS) await write(`${name}.yaml`, text);
  await mkdir(join(tests, 'folder'));
  await symlink('..', join(tests, 'link'));
  await write('lines.yaml', withEvents(' { file: lines.ndjson }'));
  await write('lines.ndjson', '{"project":"p1"}\n\n{"project":\n[]\n');
  const { code, stdout, stderr } = await run();
  expect([code, stdout]).toEqual([1, '']);
  const lines = stderr.trimEnd().split('\n');
  for (const [name, , message] of FAULTS)
    expect(lines).toContainEqual(expect.stringContaining(`${join(tests, `${name}.yaml`)}:${message}`));
  const file = join(tests, 'lines.ndjson');
  expect(lines).toContain(`tailrace: ${file}:3: event is not valid JSON`);
  expect(lines).toContain(`tailrace: ${file}:4: event is not a JSON object`);
  expect(lines).toHaveLength(FAULTS.length + 2);
});
